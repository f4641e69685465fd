"""An answer read from its bytes alone: out of the envelope, what the Gemini dialect reads.

Lines without an envelope are read, too: some clients have met them. An error comes as JSON whatever its content type
says (a stream that was refused calls itself `text/event-stream`), by itself or as the one element of a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...messages import JSON, FinishReason, FunctionCall
from ..base import WireAnswer, WireEvent
from ..gemini import read as gemini
from ..lenient_reading import json_of, word
from .claude import join_thoughts
from .errors import nested_error

_OTHER = "OTHER"


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    if (refused := _oauth(status, body)) is not None:
        return refused
    answer = gemini.read_answer(status, _headers(headers, body), body, _unwrapped)
    answer = replace(answer, parts=join_thoughts(answer.parts))
    if (inner := nested_error(answer.error_message)) is not None and (text := word(inner.get("message"))) is not None:
        # What a client tells of it are Anthropic's words, not the JSON around them.
        answer = replace(answer, error_message=text)
    if answer.raw_finish == _OTHER and any(isinstance(part, FunctionCall) for part in answer.parts):
        return replace(answer, finish=FinishReason.TOOL_USE)
    return answer


def split_stream(headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
    """The body as events; joined, their bytes are the body. A batch answer is one `body` event."""
    return gemini.split_enveloped(_headers(headers, body), body, _unwrapped)


def _headers(headers: Mapping[str, str], body: bytes) -> Mapping[str, str]:
    if not body.lstrip().startswith((b"{", b"[")):
        return headers
    return {name: value for name, value in headers.items() if name != "content-type"}


def _unwrapped(message: JSON) -> JSON:
    inner = message.get("response") if isinstance(message, dict) else None
    return inner if isinstance(inner, dict) else message


def _oauth(status: int, body: bytes) -> WireAnswer | None:
    """A refusal of the token endpoint, whose `error` is a word."""
    if status < 400:
        return None
    message = json_of(body)
    kind = word(message.get("error")) if isinstance(message, dict) else None
    if kind is None:
        return None
    return WireAnswer(status, error_kind=kind, error_message=word(message.get("error_description")))
