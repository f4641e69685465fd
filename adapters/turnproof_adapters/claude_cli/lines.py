"""The program's lines as typed data. What is not named here is ignored, as the program's own SDK does."""

from __future__ import annotations

from typing import Any

import msgspec

from .._decoding import decode_json
from ..anthropic.wire import Event, Usage


class Line(msgspec.Struct, frozen=True):
    """Any line. `parent_tool_use_id` marks what a subagent of the program said."""

    type: str
    parent_tool_use_id: str | None = None


class StreamEvent(Line, frozen=True, kw_only=True):
    """A raw event of the API's stream."""

    event: Event


class ProgramRequest(msgspec.Struct, frozen=True):
    """What the program wants to know: whether a tool may run, or something of a server of tools."""

    subtype: str = ""
    message: dict[str, Any] = {}
    tool_name: str = ""
    tool_use_id: str = ""
    input: dict[str, Any] = {}


class ControlRequest(Line, frozen=True, kw_only=True):
    """A question of the program's."""

    request_id: str
    request: ProgramRequest


class Answered(msgspec.Struct, frozen=True):
    """What became of something that we wanted."""

    subtype: str = ""
    request_id: str = ""
    error: str | None = None


class ControlResponse(Line, frozen=True, kw_only=True):
    """The answer to a question of ours."""

    response: Answered


class ProgramMessage(msgspec.Struct, frozen=True):
    """A message, or a part of one: the lines of one answer share its `id`."""

    role: str = ""
    content: str | list[dict[str, Any]] = ""
    id: str = ""
    model: str = ""


class System(Line, frozen=True, kw_only=True):
    """A notice: `init` at the begin of a turn, `api_retry` where the API is asked once more, and others."""

    subtype: str = ""
    session_id: str = ""
    claude_code_version: str = ""


class User(Line, frozen=True, kw_only=True):
    """What the model was told in a turn: results of tools, or words of the program's own (`isSynthetic`)."""

    message: ProgramMessage = ProgramMessage()
    is_synthetic: bool = msgspec.field(default=False, name="isSynthetic")


class Assistant(Line, frozen=True, kw_only=True):
    """A finished block of an answer; or, in an answer's place, that the API refused, with its status and error type.
    `error` is the program's own word for it."""

    message: ProgramMessage = ProgramMessage()
    is_api_error_message: bool = False
    error: str | None = None
    api_error_status: int | None = None
    api_error_type: str | None = None


class Result(Line, frozen=True, kw_only=True):
    """The end of a turn."""

    subtype: str = ""
    is_error: bool = False
    result: str | None = None
    errors: list[str] | None = None
    terminal_reason: str | None = None
    api_error_status: int | None = None
    stop_reason: str | None = None
    session_id: str = ""
    usage: Usage | None = None


_head = msgspec.json.Decoder(Line)

_by_type: dict[str, msgspec.json.Decoder[Any]] = {
    "assistant": msgspec.json.Decoder(Assistant),
    "control_request": msgspec.json.Decoder(ControlRequest),
    "control_response": msgspec.json.Decoder(ControlResponse),
    "result": msgspec.json.Decoder(Result),
    "stream_event": msgspec.json.Decoder(StreamEvent),
    "system": msgspec.json.Decoder(System),
    "user": msgspec.json.Decoder(User),
}


def decode_line(data: bytes) -> Line:
    """A line of the program's. Raises ValueError for what is none, RecursionError for one that is nested too deeply."""
    line: Line = decode_json(_head, data)
    decoder = _by_type.get(line.type)
    return line if decoder is None else decode_json(decoder, data)
