"""Where a process connects to, while it is examined; and nothing leaves the machine.

Each address is written down on stderr, and all that is not loopback is refused. An adapter that does not use its
endpoint is found by it: it calls the real service. Only Python's own sockets are seen: what an extension in another
language, or a child process does, is not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from ..._base.loopback import is_loopback

MARK = "turnproof doctor: connects to "


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook. Raises ConnectionRefusedError for whatever is not loopback."""
    if event == "socket.getaddrinfo":
        host, port = arguments[0], arguments[1]
    elif event == "socket.connect" and isinstance(arguments[1], tuple):  # a path belongs to a socket of this machine
        host, port = arguments[1][:2]
    else:
        return
    name = host.decode(errors="replace") if isinstance(host, bytes) else str(host or "localhost")
    address = f"{name}:{port}"
    print(f"{MARK}{address}", file=sys.stderr, flush=True)
    if not is_loopback(name):
        raise ConnectionRefusedError(111, f"turnproof doctor lets nothing leave this machine: {address}")


def addresses(printed: str) -> list[str]:
    """The addresses (`HOST:PORT`) that a worker wrote down, among whatever else it printed."""
    found: Iterable[str] = (line.partition(MARK)[2] for line in printed.splitlines() if MARK in line)
    return list(dict.fromkeys(found))
