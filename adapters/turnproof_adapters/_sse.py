"""Server-sent events from chunks of bytes that may end anywhere (WHATWG HTML, section 9.2.6).

Only the data of an event is of interest here: the API repeats the event's name inside it. Bytes are split at line
ends before anything is decoded, so a chunk may end within a character.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_BOM = b"\xef\xbb\xbf"


def payloads(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The data of each complete event. An event that the stream ends in is not complete and not given."""
    data: list[bytes] = []
    pieces: list[bytes] = []
    for chunk in _without_mark(chunks):
        if pieces:
            may_be_over = pieces[-1].endswith(b"\r")
            pieces.append(chunk)
            if not may_be_over and b"\n" not in chunk and b"\r" not in chunk:
                continue  # a line of many chunks is joined once, at its end
            chunk, pieces = b"".join(pieces), []
        lines = chunk.splitlines()
        if lines and chunk[-1:] != b"\n":
            # A last line without its end goes on in the next chunk; one that ends in CR may get its LF only there.
            pieces.append(lines.pop() + (b"\r" if chunk[-1:] == b"\r" else b""))
        for line in lines:
            if line[:6] == b"data: ":
                data.append(line[6:])
            elif line[:5] == b"data:":
                data.append(line[5:])
            elif data and not line:
                yield b"\n".join(data)
                data = []
            # Anything else is an event name, an id, a retry time, a comment, or a field to be ignored.
    if data and pieces == [b"\r"]:
        yield b"\n".join(data)  # a stream that ends in any other line ends in half an event


def _without_mark(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The chunks, less a byte order mark in front."""
    head = b""
    waiting = iter(chunks)
    for chunk in waiting:
        head += chunk
        if not _BOM.startswith(head):
            yield head.removeprefix(_BOM)
            break
    yield from waiting
