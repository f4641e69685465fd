"""Messages on a WebSocket: how long the socket has lived, the lanes on it, and what belongs to HTTP alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...base import Refusal
from .. import fields, rules
from ..socket_memory import LIFE_SECONDS, MOST_LANES, Socket, is_over, socket_of
from .context import Context, refuse

_LANE = re.compile(r"[A-Za-z0-9_.-]{1,256}")


def check(context: Context) -> Iterator[Refusal]:
    """Rules about a message as a message; a request of HTTP gives nothing."""
    socket = socket_of(context.world, context.call)
    if socket is None:
        return
    if is_over(socket, context.world):
        message = (
            f"Responses websocket connection limit reached ({LIFE_SECONDS // 60} minutes). Create a new websocket "
            "connection to continue."
        )
        yield Refusal(rules.SOCKET_LIFE, 400, "websocket_connection_limit_reached", message, outdated=True)
    yield from _lane(context, socket)
    for name in fields.OF_HTTP:
        if context.body.get(name) is not None:
            yield refuse(rules.HTTP_FIELD, f"Unsupported parameter over WebSocket: '{name}'.", name)


def _lane(context: Context, socket: Socket) -> Iterator[Refusal]:
    lane = context.body.get("stream_id")
    if lane is None:
        return
    if not isinstance(lane, str) or _LANE.fullmatch(lane) is None:
        message = (
            "The 'stream_id' field must be a non-empty string with at most 256 characters and may only contain "
            "letters, numbers, underscores, hyphens, and periods."
        )
        yield refuse(rules.LANE_NAME, message, "stream_id", "invalid_stream_id")
    elif lane not in socket.lanes and len(socket.lanes) >= MOST_LANES:
        message = (
            f"This WebSocket connection has reached its maximum number of distinct stream IDs ({MOST_LANES}). Reuse "
            "an existing stream_id or open a new WebSocket connection."
        )
        yield refuse(rules.LANE_LIMIT, message, "stream_id", "websocket_stream_limit_reached")
    else:
        socket.lanes.add(lane)
