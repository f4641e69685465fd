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
    for line in _lines(chunks):
        if not line:
            if data:
                yield data[0] if len(data) == 1 else b"\n".join(data)
                data = []
        elif line.startswith(b"data:"):
            data.append(line[6:] if line.startswith(b"data: ") else line[5:])
        # Anything else is an event name, an id, a retry time, a comment, or a field to be ignored.


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their ends: LF, CR LF, or CR."""
    rest = b""
    begun = False
    for chunk in chunks:
        rest += chunk
        if not begun:
            if len(rest) < len(_BOM) and _BOM.startswith(rest):
                continue
            rest = rest.removeprefix(_BOM)
            begun = True
        lines = rest.splitlines(keepends=True)
        # A last line without its end goes on in the next chunk; one that ends in CR may get its LF only there.
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        for line in lines:
            yield line.rstrip(b"\r\n")
    if rest.endswith(b"\r"):
        yield rest[:-1]
