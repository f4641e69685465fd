"""What a program says of a failure, as one of turnproof's typed errors.

The protocol has one code for all that goes wrong with a model's service. Programs add to it what they know, each in its
own place: as the code itself (Gemini CLI), as words of their data (Claude), or as words of the message (Codex).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from acp import RequestError

from turnproof.errors import AuthenticationError, ContextLimitError, ProviderError, TransportError

from .._errors import by_status

_AUTH_REQUIRED = -32000

_STATUS = re.compile(
    r"(?:API Error|[Ss]tatus(?: code)?|HTTP|rejected)[: ]+\(?(\d{3})\b|\"(?:code|status)\": ?(\d{3})\b"
)
"""A status in words."""

_WORDED = (
    (re.compile(r"requested entity was not found", re.I), 404),  # Gemini CLI gives it as a 500
    (re.compile(r"quota exceeded|exceeded retry limit", re.I), 429),
)
"""What words say where the number beside them is wrong, or there is none."""

_TYPE = re.compile(r"\"type\": ?\"(\w+)\"")
"""An error type in words."""

_STATUSES = ("status", "statusCode", "httpStatus", "http_status_code", "code")

_KINDS = {
    "authentication_failed": 401,
    "authentication_error": 401,
    "billing_error": 403,
    "permission_error": 403,
    "invalid_request": 400,
    "invalid_request_error": 400,
    "model_not_found": 404,
    "rate_limit": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "overloaded": 529,
    "overloaded_error": 529,
    "server_overloaded": 529,
    "server_error": 500,
    "api_error": 500,
    "internal_server_error": 500,
}
"""What an error type says where no status is told."""

_TOO_LONG = re.compile(
    r"prompt is too long(?:: (?P<requested>\d+) tokens > (?P<limit>\d+))?"
    r"|context_length_exceeded|ran out of room in the model's context window"
    r"|input token count \(?(?P<counted>\d+)\)? exceeds the maximum number of tokens allowed \(?(?P<allowed>\d+)",
    re.I,
)


def typed_error(error: RequestError, earlier_text: str, scrub: Callable[[str], str]) -> ProviderError:
    """The typed error for a refused request. `earlier_text` is what the agent sent in place of an answer."""
    words = _words(error)
    if earlier_text and not any(earlier_text in word for word in words):
        words.append(earlier_text)
    text = scrub("; ".join(words))
    kind = next((word for word in _kinds(error.data, words) if word in _KINDS), None)
    status = _status_of(error, words)
    if (full := _TOO_LONG.search(text)) and (status is None or status in (400, 413)):
        found = full.groupdict()
        requested, limit = found["requested"] or found["counted"], found["limit"] or found["allowed"]
        return ContextLimitError(
            text,
            requested=int(requested) if requested else None,
            limit=int(limit) if limit else None,
            status=status,
            kind=kind,
        )
    if status is not None:
        return by_status(status, text, kind=kind)
    if kind is not None:
        known = by_status(_KINDS[kind], text, kind=kind)
        known.status = None  # nobody has told it
        return known
    if error.code == _AUTH_REQUIRED:
        return AuthenticationError(text, kind=kind)
    return TransportError(f"the agent ended the turn: {text}", kind=kind)


def error_text(error: RequestError, scrub: Callable[[str], str]) -> str:
    """Its words, as an error may show them."""
    return scrub("; ".join(_words(error)))


def _words(error: RequestError) -> list[str]:
    found = [str(error)]
    match error.data:
        case str(text):
            found.append(text)
        case {"message": str(text)} | {"details": str(text)} | {"error": str(text)}:
            found.append(text)
        case {"error": {"message": str(text)}}:
            found.append(text)
    return [word for word in dict.fromkeys(found) if word and word != "Internal error"] or [str(error)]


def _status_of(error: RequestError, words: list[str]) -> int | None:
    for pattern, status in _WORDED:
        if any(pattern.search(word) for word in words):
            return status
    if 400 <= error.code < 600:
        return error.code
    for name, value in _fields(error.data):
        if name in _STATUSES and isinstance(value, int) and 400 <= value < 600:
            return value
    for word in words:
        if found := _STATUS.search(word):
            return int(found[1] or found[2])
    return None


def _kinds(data: object, words: list[str]) -> Iterator[str]:
    for name, value in _fields(data):
        if isinstance(value, str):
            yield value
        yield name  # Codex puts what it knows under a name of its own
    for word in words:
        yield from _TYPE.findall(word)


def _fields(data: object, depth: int = 4) -> Iterator[tuple[str, Any]]:
    if isinstance(data, Mapping) and depth:
        for name, value in data.items():
            yield str(name), value
            yield from _fields(value, depth - 1)
