"""Error answers of the gateway and of the token endpoint: statuses, bodies, and what their words mean.

Google's envelope with its details; for Claude models Anthropic's own error is a JSON string inside `message`, which a
client has to read a second time. The token endpoint answers as OAuth has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ...messages import JSON
from .. import lenient_reading
from ..anthropic_messages.errors import error_meaning as anthropic_meaning
from ..base import ErrorMeaning, Refusal, Rendered, Rule
from ..gemini import errors as gemini
from ..gemini.spelling import violations
from ..gemini.times import format_duration, format_timestamp
from ..gemini.writing import JSON_HEADERS, body_event
from ..seeded_random import seeded_word
from ..tables import load_errors
from . import rules

_TYPE = "type.googleapis.com/google.rpc."
_DOMAIN = "cloudcode-pa.googleapis.com"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


LONGEST_RATE_LIMIT = 300.0
"""Seconds: a longer wait is not one of a rate but of a quota. It is where gemini-cli gives up (`antigravity.md` §6)."""

KINDS = {**gemini.KINDS, **load_errors(__package__)["antigravity"]}
EXHAUSTED = KINDS[429][1]
"""The 429 that says nothing more, and has no details."""

_CREDENTIALS = frozenset({"invalid_grant", "invalid_client", "unauthorized_client"})
_OAUTH = frozenset({rules.GRANT_TYPE, rules.MISSING_PARAMETER, rules.CLIENT_SECRET, rules.INVALID_GRANT})
_READING = frozenset({rules.UNKNOWN_NAME, rules.NOT_REPEATING, rules.WRONG_TYPE, rules.ONEOF, rules.BROKEN_BASE64})
_NO_CAPACITY = re.compile(r"No capacity available for model (\S+) on the server")


@dataclass(frozen=True, slots=True)
class Explained(Refusal):
    """A refusal with the details that its answer gives."""

    details: tuple[JSON, ...] = ()


def error_meaning(status: int, kind: str | None, message: str | None) -> ErrorMeaning | None:
    """What only the words tell: a refresh token that is worth nothing, a prompt that is too long for either model.

    Anthropic's words may stand by themselves, or within the message as it came.
    """
    if kind in _CREDENTIALS:
        return "authentication"
    inner = nested_error(message)
    words = message if inner is None else lenient_reading.word(inner.get("message"))
    return anthropic_meaning(status, None, words) or gemini.error_meaning(status, None, words)


def nested(rule: Rule, message: str, path: str, kind: str = "invalid_request_error") -> Refusal:
    """An error of Anthropic's, as the gateway hands it on."""
    body = {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": f"req_vrtx_011C{seeded_word(_BASE58, 20, message)}",
    }
    return Refusal(rule, 400, "INVALID_ARGUMENT", msgspec.json.encode(body).decode(), path)


def nested_error(message: str | None) -> Mapping[str, Any] | None:
    """Anthropic's error within a message (its `type` and `message`); None where there is none."""
    if message is None or not message.lstrip().startswith("{"):
        return None
    body = lenient_reading.json_of(message)
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else None


def quota(rule: Rule, model: str, wait: float, now: float) -> Refusal:
    """A quota that is used up until `wait` seconds from `now`."""
    metadata = {
        "uiMessage": "true",
        "model": model,
        "quotaResetDelay": _go_duration(wait),
        "quotaResetTimeStamp": f"{format_timestamp(now + wait)[:19]}Z",
    }
    details = (error_info("QUOTA_EXHAUSTED", metadata), _retry_info(wait))
    return Explained(rule, 429, "RESOURCE_EXHAUSTED", _capacity(wait), "$.model", retry_after=wait, details=details)


def error_info(reason: str, metadata: Mapping[str, str] | None = None, domain: str = _DOMAIN) -> JSON:
    """The detail that gives an error a name."""
    named = {"@type": f"{_TYPE}ErrorInfo", "reason": reason, "domain": domain}
    return {**named, "metadata": dict(metadata)} if metadata else named


def help_link(description: str, url: str) -> JSON:
    """The detail that says where to go on."""
    return {"@type": f"{_TYPE}Help", "links": [{"description": description, "url": url}]}


def render_refusal(refusal: Refusal, seed: str) -> Rendered:
    """The refusal as it is answered. How long to wait stands in the body alone: there is no `retry-after`."""
    if refusal.rule in _OAUTH:
        oauth = {"error": refusal.kind, "error_description": refusal.message}
        return Rendered(refusal.status, JSON_HEADERS, (body_event(oauth),))
    message, details = refusal.message, _details(refusal)
    if message == EXHAUSTED and refusal.retry_after is not None:
        message = _capacity(refusal.retry_after)
    error: dict[str, Any] = {"code": refusal.status, "message": message, "status": refusal.kind}
    if details:
        error["details"] = list(details)
    return Rendered(refusal.status, JSON_HEADERS, (body_event({"error": error}),))


def _details(refusal: Refusal) -> tuple[JSON, ...]:
    if isinstance(refusal, Explained):
        return refusal.details
    if refusal.rule in _READING:
        return ({"@type": f"{_TYPE}BadRequest", "fieldViolations": list(violations(refusal.message))},)
    retry = (_retry_info(refusal.retry_after),) if refusal.retry_after is not None else ()
    if (model := _NO_CAPACITY.search(refusal.message)) is not None:
        return (error_info("MODEL_CAPACITY_EXHAUSTED", {"model": model[1]}), *retry)
    if refusal.status == 429 and refusal.retry_after is not None:
        within = refusal.retry_after <= LONGEST_RATE_LIMIT
        delay = {"quotaResetDelay": _go_duration(refusal.retry_after)}
        return (error_info("RATE_LIMIT_EXCEEDED" if within else "QUOTA_EXHAUSTED", delay), *retry)
    return retry


def _retry_info(wait: float) -> JSON:
    return {"@type": f"{_TYPE}RetryInfo", "retryDelay": format_duration(wait)}


def _capacity(wait: float) -> str:
    left = _go_duration(max(1, int(wait)))
    return f"You have exhausted your capacity on this model. Your quota will reset after {left}."


def _go_duration(seconds: float) -> str:
    """A duration as Go spells it: `510ms`, `3.957525076s`, `2m5s`, `1h16m0.667923083s`."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:g}ms"
    whole, point, fraction = format_duration(seconds).removesuffix("s").partition(".")
    minutes, rest = divmod(int(whole), 60)
    hours, minutes = divmod(minutes, 60)
    lead = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{lead}{rest}{point}{fraction}s"
