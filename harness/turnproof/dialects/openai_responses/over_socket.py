"""The API over a WebSocket, as OpenAI documents it (guide websocket-mode) and Open Responses specifies it (2026-04-24).

No traffic of a real socket was recorded: all of this is documented and none of it seen. A client sends
`response.create`; what comes back are the events of a stream without their framing, one a message. A refusal is a
message too: the error of an HTTP answer, with its status. A body of such messages is written down one a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from ..base import SOCKET_METHOD, HttpRequest, Rendered, WireEvent, World
from ..contract import Sockets as SocketsProtocol
from ..lenient_reading import json_of
from ..sse import frames
from . import rules
from .framing import MESSAGES
from .socket_memory import lane_of, open_socket

CREATE = "response.create"
"""The one message of a client that starts a response."""

_encode = msgspec.json.Encoder().encode
_WAIT = "retry-after"
_OF_A_WAIT = ("date", _WAIT)


def is_message(request: HttpRequest) -> bool:
    """Whether a request came as a message on a socket."""
    return request.method == SOCKET_METHOD


def is_handshake(request: HttpRequest) -> bool:
    """Whether a request asks for a socket."""
    upgrade = request.headers.get("upgrade", "").strip().lower()
    return request.method.upper() == "GET" and upgrade == "websocket"


class Sockets(SocketsProtocol):
    """How the Responses API is spoken over a WebSocket."""

    final_rules = frozenset({rules.SOCKET_LIFE.id})

    def lane(self, message: bytes) -> str:
        return lane_of(message)

    def messages(self, answer: Rendered, request: HttpRequest) -> Rendered:
        lane = lane_of(request.body)
        events = tuple(_named(message, lane) for message in _messages(answer))
        return Rendered(answer.status, {"content-type": MESSAGES}, events)

    def answered(self, answer: Rendered, request: HttpRequest, world: World) -> None:
        """A failure drops the response that the request named, and what the lane ended in by it."""
        if answer.status < 400 and not any(event.kind == "error" for event in answer.events):
            return
        socket = open_socket(world, -1 if request.connection is None else request.connection)
        body = json_of(request.body)
        if isinstance(body, dict):
            socket.drop(body.get("previous_response_id"))
        if answer.status < 400:
            socket.latest.pop(lane_of(request.body), None)


def _messages(answer: Rendered) -> Iterator[WireEvent]:
    content_type = answer.headers.get("content-type", "")
    if content_type == MESSAGES:
        yield from answer.events
    elif content_type.startswith("text/event-stream"):
        for event in answer.events:
            for frame in frames(event.data):
                if frame.data is not None:
                    yield replace(event, data=frame.data.encode() + b"\n")
    else:
        yield WireEvent(_error(answer), "error" if answer.status >= 400 else "body")


def _error(answer: Rendered) -> bytes:
    """The body of an answer of HTTP as a message: of a refusal the documented error, with its status."""
    body = json_of(answer.body)
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return _encode(body) + b"\n"
    waits = {name: answer.headers[name] for name in _OF_A_WAIT if name in answer.headers and _WAIT in answer.headers}
    error_with_headers = {**error, "headers": waits} if waits else error
    return error_message(error_with_headers, answer.status)


def error_message(error: Mapping[str, Any], status: int) -> bytes:
    """An error as a message (openai 3.57, `ResponseWsError`; Open Responses, `WebSocketErrorEvent`)."""
    return _encode({"type": "error", "status": status, "error": error}) + b"\n"


def _named(message: WireEvent, lane: str) -> WireEvent:
    """A message with the lane that it belongs to, if that has a name."""
    message_json = json_of(message.data) if lane else None
    return (
        replace(message, data=_encode({**message_json, "stream_id": lane}) + b"\n")
        if isinstance(message_json, dict)
        else message
    )
