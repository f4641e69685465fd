"""What an agent starts as a tool server: it passes its input on to a socket, and what comes from there to its output.

The server itself lives in the process that serves the socket. Run as a file, with the socket's path as the only
argument; it needs nothing but the standard library, so that it is there at once.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import sys

_PIECE = 1 << 16


def relay(path: str) -> None:
    """Pass everything on in both directions, until the server hangs up or nobody reads or writes any more."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        ends = {0: server.fileno(), server.fileno(): 1}
        while ends:
            ready, _, _ = select.select(list(ends), [], [])
            for end in ready:
                piece = os.read(end, _PIECE)
                if piece:
                    _write(ends[end], piece)
                elif end == 0:
                    # What was asked before is still answered.
                    server.shutdown(socket.SHUT_WR)
                    del ends[0]
                else:
                    return


def _write(end: int, piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[os.write(end, left) :]


if __name__ == "__main__":
    with contextlib.suppress(OSError):  # the other side is gone: there is nobody to tell
        relay(sys.argv[1])
