"""What the service holds in the memory of one WebSocket: the latest response of each lane, stored or not.

A socket lives for an hour on the world's clock. What it holds is gone with it: a response that is stored as well can be
gone on from elsewhere, any other one on this socket alone. A request that fails drops what it named.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..base import World
from ..lenient_reading import json_of
from .stored_response import StoredResponse
from .surfaces import ResponsesCall

LIFE_SECONDS = 60 * 60
"""How long a socket lives (developers.openai.com, guide websocket-mode)."""

MOST_LANES = 32
"""How many lanes with a name a socket can have (the same page)."""


@dataclass(slots=True)
class Socket:
    """One WebSocket. `latest` has the id of the response that each lane ended in, `issued` every response that it ever
    held, so that what a request meant by an id can be read after the socket holds another one in its place."""

    since: float
    latest: dict[str, str] = field(default_factory=dict)
    issued: dict[str, StoredResponse] = field(default_factory=dict)
    lanes: set[str] = field(default_factory=set)

    def hold(self, lane: str, name: str, response: StoredResponse) -> None:
        """Hold a response in place of the lane's last one."""
        self.latest[lane] = name
        self.issued[name] = response

    def holds(self, name: object) -> bool:
        """Whether it holds the response under this id, whichever lane has it: another lane can branch off from it."""
        return name in self.latest.values()

    def drop(self, name: object) -> None:
        """Hold the response under this id no longer."""
        self.latest = {lane: one for lane, one in self.latest.items() if one != name}


def socket_of(world: World, call: ResponsesCall) -> Socket | None:
    """The socket by which a call came; None for a request of HTTP."""
    return None if call.socket is None else open_socket(world, call.socket)


def open_socket(world: World, number: int) -> Socket:
    """The socket of this number, new where the world has none."""
    found: Socket = world.resources.setdefault(f"socket:{number}", Socket(world.clock()))
    return found


def is_over(socket: Socket, world: World) -> bool:
    """Whether the socket has lived as long as one can."""
    return world.clock() - socket.since >= LIFE_SECONDS


def was_held(world: World, name: object) -> bool:
    """Whether any socket of this world held the response under this id, now or before."""
    return any(name in one.issued for one in world.resources.values() if isinstance(one, Socket))


def lane_of(message: bytes) -> str:
    """The lane that a message names; the one without a name is empty."""
    body = json_of(message)
    lane = body.get("stream_id") if isinstance(body, dict) else None
    return lane if isinstance(lane, str) else ""
