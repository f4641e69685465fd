"""Server-sent events as bytes: split without losing one, and read without trusting them.

`frames()` cuts a body after each blank line; the pieces joined are the body, also when it ends in mid-frame.
Line ends may be LF, CRLF or CR, as the standard allows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Atomic: a single CRLF must not be taken for two line ends.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)+")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Frame:
    """One event as it stood on the wire. `closed` says that its blank line was there.

    `event` is the name (None where no `event:` line stood), `data` the data lines joined with LF (None without).
    """

    raw: bytes
    event: str | None
    data: str | None
    closed: bool


def frames(body: bytes) -> list[Frame]:
    """The body's frames in order; their `raw` bytes joined are the body."""
    found = []
    start = 0
    for blank in _BLANK_LINE.finditer(body):
        found.append(_frame(body[start : blank.end()], closed=True))
        start = blank.end()
    if start < len(body):
        found.append(_frame(body[start:], closed=False))
    return found


def _frame(raw: bytes, *, closed: bool) -> Frame:
    event: str | None = None
    data: list[str] = []
    for line in _LINE_END.split(raw.decode(errors="replace")):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            event = value
    return Frame(raw, event, "\n".join(data) if data else None, closed)


def is_event_stream(content_type: str, body: bytes) -> bool:
    """Whether a response is an event stream: by its content type, or, without one, by how it begins."""
    if content_type:
        return content_type.split(";", 1)[0].strip().lower() == "text/event-stream"
    return body.lstrip().startswith((b"event:", b"data:", b":"))
