"""A request in neutral form, read from its bytes alone.

`parse` refuses what the service refuses while it reads: an address it does not have, a body that is not JSON, names and
values that its messages do not have. A missing or wrong key is named before any of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from ...messages import Message, Part, ToolResult
from ..base import Call, HttpRequest, Refusal, Rule, World
from ..base_dialect import UnreadableRequest, call_or_refusal
from . import auth, caches, rules
from .conversation import Content, turns
from .ids import Pairing
from .parts import part_of
from .spelling import Fault, Reader
from .surfaces import Address, GeminiCall, address, bare_model, package
from .tools import schemas

_decode = msgspec.json.Decoder().decode
_MESSAGES = {"generate": "GenerateContentRequest", "count_tokens": "CountTokensRequest", "cache": "CachedContent"}
_CONVERSATION = frozenset(
    {"model", "contents", "systemInstruction", "tools", "cachedContent", "generationConfig", "generateContentRequest"}
)


def parse(request: HttpRequest, world: World) -> Call | Refusal:
    """The request as a `GeminiCall`, or the first refusal the API would give for something that is none."""
    return call_or_refusal(partial(_call, request, world), _malformed, auth.refusals(request, world))


def _malformed(reason: str | None) -> Refusal:
    return _refused(rules.MALFORMED_JSON, f"Invalid JSON payload received. {reason or 'Nesting too deep.'}").refusal


def _call(request: HttpRequest, world: World) -> GeminiCall:
    found = address(request)
    if found is None:
        raise _refused(rules.NOT_FOUND, "Requested entity was not found.", 404, "NOT_FOUND")
    if found.operation in ("list_models", "get_model") or found.action in ("get", "list", "delete"):
        return _bodiless(found)
    body, doubts = _body(request.body, found)
    if found.operation == "cache":
        return replace(_on_cache(found, body), doubts=doubts)
    return replace(generation_call(found, body, world, sse=request.query.get("alt") == "sse"), doubts=doubts)


def generation_call(found: Address, body: Mapping[str, Any], world: World, *, sse: bool) -> GeminiCall:
    """A request for an answer or a count, its body in the one spelling that a `Reader` gives."""
    content = body.get("generateContentRequest") or body
    model = found.model or ""
    managed = caches.find_cache(world, content.get("cachedContent"))
    prompt_body = managed.body if managed else content
    pairing = Pairing()
    before = _messages(prompt_body.get("contents", ()), model, pairing, "cached") if managed else []
    own = _messages(content.get("contents", ()), model, pairing, "contents")
    return GeminiCall(
        operation=found.operation,
        model=found.model,
        stream=found.verb == "streamGenerateContent",
        system=_system(prompt_body, model),
        tools=tuple(schemas(prompt_body.get("tools", ()))),
        messages=(*before, *own),
        body=body,
        settings=_settings(content),
        resource=content.get("cachedContent"),
        managed_messages=len(before),
        surface=found.surface,
        version=found.version,
        parent=found.parent,
        sse=sse,
    )


def _bodiless(found: Address) -> GeminiCall:
    return GeminiCall(
        operation=found.operation,
        model=found.model,
        action=found.action,
        resource=found.resource,
        surface=found.surface,
        version=found.version,
        parent=found.parent,
    )


def _on_cache(found: Address, body: Mapping[str, Any]) -> GeminiCall:
    """A cache is made or changed: what it is to hold stands where a conversation would."""
    model = bare_model(body.get("model", ""))
    return GeminiCall(
        operation="cache",
        model=model or None,
        system=_system(body, model),
        tools=tuple(schemas(body.get("tools", ()))),
        messages=tuple(_messages(body.get("contents", ()), model, Pairing(), "contents")),
        body=body,
        settings=_settings(body),
        action=found.action,
        resource=found.resource,
        surface=found.surface,
        version=found.version,
        parent=found.parent,
    )


def _body(data: bytes, found: Address) -> tuple[dict[str, Any], tuple[Refusal, ...]]:
    """The body in one spelling, and what the service may refuse in it without our knowing."""
    try:
        # No body is an empty message: clients send none where they have nothing to say.
        body = _decode(data or b"{}")
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refused(rules.MALFORMED_JSON, f"Invalid JSON payload received. {error}") from None
    if not isinstance(body, dict):
        root = 'Invalid JSON payload received. Unknown name "": Root element must be a message.'
        raise _refused(rules.MALFORMED_JSON, root)
    reader = Reader(package(found.surface, found.version))
    # A cache is a field of the message that asks for its creation; elsewhere the body is the message itself.
    read = reader.read(_MESSAGES[found.operation], body, "cached_content" if found.operation == "cache" else "")
    faults = [fault for fault in reader.faults if not fault.unlisted]
    if faults:
        message = "\n".join(fault.message for fault in faults)
        raise _refused(faults[0].rule, message, path=_where(faults[0]))
    doubts = (
        Refusal(fault.rule, 400, "INVALID_ARGUMENT", fault.message, _where(fault), unlisted=True)
        for fault in reader.faults
    )
    return read, tuple(doubts)


def _where(fault: Fault) -> str:
    return f"$.{fault.path}" if fault.path else "$"


def _settings(content: Mapping[str, Any]) -> dict[str, Any]:
    more_settings = {key: value for key, value in content.items() if key not in _CONVERSATION}
    return {**content.get("generationConfig", {}), **more_settings}


def _system(prompt_body: Mapping[str, Any], model: str) -> tuple[Part, ...]:
    instruction = prompt_body.get("systemInstruction") or {}
    return tuple(part_of(part, model) for part in instruction.get("parts", ()))


def _messages(contents: Sequence[Content], model: str, pairing: Pairing, where: str) -> list[Message]:
    """One message for a turn of the model; for one of the user its results, then the rest.

    Results that follow no call have no place of their own: they stand before or behind the rest as they came.
    """
    found: list[Message] = []
    for turn in turns(contents):
        parts = tuple([part_of(placed.part, model) for placed in turn.parts])
        path = f"{where}[{turn.first}]"
        if turn.role == "model":
            found.append(Message("model", pairing.of_model(parts), path))
        else:
            answers = bool(found and found[-1].calls)
            found.extend(_of_user(pairing.of_user(parts), path, answers))
    return found


def _of_user(parts: tuple[Part, ...], path: str, answers: bool) -> list[Message]:
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    if not results:
        return [Message("user", parts, path)]
    rest = tuple(part for part in parts if not isinstance(part, ToolResult))
    tool = Message("tool", results, path)
    if not rest:
        return [tool]
    message = Message("user", rest, f"{path}.rest")
    return [tool, message] if answers or isinstance(parts[0], ToolResult) else [message, tool]


def _refused(
    rule: Rule, message: str, status: int = 400, kind: str = "INVALID_ARGUMENT", path: str = "$"
) -> UnreadableRequest:
    return UnreadableRequest(Refusal(rule, status, kind, message, path))
