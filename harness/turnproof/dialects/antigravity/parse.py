"""A request in neutral form, read from its bytes alone: out of the envelope, what the Gemini dialect reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import msgspec

from ...errors import PayloadError
from ..base import HttpRequest, Refusal, World
from ..gemini.parse import generation_call
from ..gemini.spelling import Fault, Reader
from ..gemini.surfaces import Address as GeminiAddress
from ..gemini.surfaces import GeminiCall, Surface, bare_model, package
from . import auth, oauth, rules
from .call import TOKEN, Address, AntigravityCall, address
from .fields import FIELDS

_VERSION = "v1internal"
_ENVELOPES = {"generate": "GenerateContentEnvelope", "count_tokens": "CountTokensEnvelope"}
_decode = msgspec.json.Decoder().decode


def parse(request: HttpRequest, world: World) -> AntigravityCall | Refusal:
    """The request as an `AntigravityCall`, or the first refusal for something that is none."""
    found = address(request)
    if found is not None and found.verb == TOKEN:
        return oauth.parse(request, world, found.host)
    try:
        read = _not_found() if found is None else _read(found, request, world)
    except RecursionError:
        read = _malformed("Nesting too deep.")
    except PayloadError as error:
        read = _malformed(error.reason)
    if isinstance(read, AntigravityCall):
        return read
    return next(auth.refusals(request, world), None) or read


def _read(found: Address, request: HttpRequest, world: World) -> AntigravityCall | Refusal:
    body = _object(request.body)
    if isinstance(body, Refusal):
        return body
    account = auth.account_of(request, world)
    name = _ENVELOPES.get(found.operation)
    if name is None:
        return AntigravityCall(
            found.operation, body=body, resource=found.resource, host=found.host, verb=found.verb, account=account
        )
    reader = Reader(package(Surface.CLOUD_CODE, _VERSION), FIELDS)
    envelope = reader.read(name, body)
    doubts = [fault for fault in reader.faults if not _is_enforced(fault)]
    if len(doubts) < len(reader.faults):
        return _unreadable(filter(_is_enforced, reader.faults))
    inner = envelope.get("request", {})
    where = GeminiAddress(Surface.CLOUD_CODE, _VERSION, found.operation, found.verb, _model(envelope, found))
    call = generation_call(where, inner, world, sse=request.query.get("alt") == "sse")
    read = {each.name: getattr(call, each.name) for each in fields(GeminiCall)}
    # There is a field for a managed cache, and nobody was seen to make one here: it serves nothing.
    return AntigravityCall(
        **read | {"resource": None, "doubts": tuple(_unreadable([fault]) for fault in doubts)},
        host=found.host,
        verb=found.verb,
        project=envelope.get("project", ""),
        account=account,
    )


def _model(envelope: Mapping[str, Any], found: Address) -> str | None:
    """Who is asked. A count names its model within the request, as a resource, or not at all."""
    if found.operation == "count_tokens":
        return bare_model(envelope.get("request", {}).get("model", "")) or None
    return str(envelope.get("model", ""))


def _object(data: bytes) -> dict[str, Any] | Refusal:
    try:
        # No body is an empty message: clients send none where they have nothing to say.
        body = _decode(data or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _malformed(str(error))
    return body if isinstance(body, dict) else _malformed('Unknown name "": Root element must be a message.')


def _is_enforced(fault: Fault) -> bool:
    return _unreadable([fault]).enforced


def _unreadable(faults: Iterable[Fault]) -> Refusal:
    """What the reader of the gateway says of a body: all faults at once, a line for each."""
    first, *more = faults
    message = "\n".join(fault.message for fault in (first, *more))
    path = f"$.{first.path}" if first.path else "$"
    return Refusal(rules.gateway_rule(first.rule), 400, "INVALID_ARGUMENT", message, path, unlisted=first.unlisted)


def _malformed(why: str) -> Refusal:
    return Refusal(rules.MALFORMED_JSON, 400, "INVALID_ARGUMENT", f"Invalid JSON payload received. {why}")


def _not_found() -> Refusal:
    return Refusal(rules.NOT_FOUND, 404, "NOT_FOUND", "Requested entity was not found.")
