"""Server-sent events as bytes: split without losing one, read without trusting them, and spelled in other ways.

`frames()` cuts a body after each blank line; the pieces joined are the body, also when it ends in mid-frame.
Line ends may be LF, CRLF or CR, as the standard allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, assert_never

Spelling: TypeAlias = Literal["lf", "crlf", "cr", "unspaced", "padded", "folded", "bom", "joined", "overlapping"]
"""A way to write a stream that changes nothing of what it says (WHATWG HTML, section 9.2.6): the line end; `data:`
without the blank behind it; blanks around the JSON; its data on several lines; a byte order mark in front of it.
`joined` is one event with the parts of all, in an API whose events hold lists of parts. `overlapping` lets a call begin
before the block or the call in front of it has ended, in an API whose events name them by a number."""

_LINE_ENDS: dict[Spelling, bytes] = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}

# Atomic: a single CRLF must not be taken for two line ends.
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)+")
_BLANK_LINE_LF = re.compile(rb"\n\n+")
"""The same where there is no CR, as in nearly every stream: it is found several times as fast."""
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
    for blank in (_BLANK_LINE if b"\r" in body else _BLANK_LINE_LF).finditer(body):
        found.append(_frame(body[start : blank.end()], closed=True))
        start = blank.end()
    if start < len(body):
        found.append(_frame(body[start:], closed=False))
    return found


def _frame(raw: bytes, *, closed: bool) -> Frame:
    event: str | None = None
    data: list[str] = []
    text = raw.decode(errors="replace")
    for line in _LINE_END.split(text) if "\r" in text else text.split("\n"):
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


def respelled(events: Iterable[bytes], spelling: Spelling) -> Iterator[bytes]:
    """A stream of JSON events, spelled in another way. An event that is no JSON object is not folded or padded."""
    if spelling == "joined":
        yield from _joined(list(events))
        return
    if spelling == "overlapping":
        yield from _overlapping(list(events))
        return
    for position, event in enumerate(events):
        match spelling:
            case "unspaced":
                yield re.sub(rb"(?m)^(data|event): ", rb"\1:", event)
            case "padded":
                yield re.sub(rb"(?m)^data: (\{.*)\}", rb"data:   \1   }", event)
            case "folded":
                yield re.sub(rb"(?m)^data: \{(.*)\}", rb"data: {\ndata: \1\ndata: }", event)
            case "bom":
                yield event if position else b"\xef\xbb\xbf" + event
            case "lf" | "crlf" | "cr":
                yield re.sub(rb"\r\n|\n|\r", _LINE_ENDS[spelling], event)
            case _:
                assert_never(spelling)


def _joined(events: Sequence[bytes]) -> Iterator[bytes]:
    """All of them as the last one, with the parts of all; the events as they are where they hold no lists of parts."""
    documents = [_json(event) for event in events]
    rows = [_parts(document) for document in documents]
    if not rows or not all(isinstance(row, list) for row in rows):
        yield from events
        return
    rows[-1][:] = [part for row in rows for part in row]
    yield from (b"" for _ in events[1:])
    yield b"data: " + json.dumps(documents[-1], ensure_ascii=False).encode() + _ending(events[-1])


def _overlapping(events: Sequence[bytes]) -> Iterator[bytes]:
    """Each block and the calls right behind it at once; the events as they are where none of them is about a block.

    The events of one block keep their order, and blocks end in their order. So clients report calls in the same order
    as before, both those that report a call when its block ends and those that do so when its arguments are complete.
    """
    group: dict[int, list[bytes]] = {}
    has_ends = False
    for event in events:
        data = frames(event)[0].data if event else None
        read = _json(data.encode()) if data else None
        document = read if isinstance(read, dict) else {}
        kind, number = document.get("type"), _number_of_call(document)
        if kind == "content_block_start":
            if document["content_block"].get("type") != "tool_use":
                yield from _at_once(group, has_ends)
                group = {}
            group[document["index"]], has_ends = [event], True
        elif number is not None:
            group.setdefault(number, []).append(event)
        elif group and kind in ("content_block_delta", "content_block_stop", "ping"):
            group[next(reversed(group))].append(event)
        else:
            yield from _at_once(group, has_ends)
            group = {}
            yield event
    yield from _at_once(group, has_ends)


def _number_of_call(chunk: Mapping[str, Any]) -> int | None:
    """The number of the call that a chunk of chat completions is about; None for any other event."""
    for choice in chunk.get("choices") or ():
        for call in choice.get("delta", {}).get("tool_calls") or ():
            return int(call["index"])
    return None


def _at_once(numbered: Mapping[int, Sequence[bytes]], has_ends: bool) -> Iterator[bytes]:
    """All starts; a piece of each in turn, the last block first; then the last piece of each, and then all ends."""
    blocks = list(numbered.values())
    yield from (block[0] for block in blocks)
    growing = [list(block[1:-2] if has_ends else block[1:-1]) for block in blocks]
    while any(growing):
        yield from (pieces.pop(0) for pieces in reversed(growing) if pieces)
    if has_ends:
        yield from (block[-2] for block in blocks if len(block) > 2)
    yield from (block[-1] for block in blocks if len(block) > 1)


def _json(event: bytes) -> Any:
    try:
        return json.loads(event.removeprefix(b"data: "))
    except ValueError:
        return None


def _parts(document: Any) -> Any:
    """The list of parts in a document of Gemini, in its envelope or without one; None where it has none."""
    for key in ("candidates", 0, "content", "parts"):
        if isinstance(document, dict):
            document = document.get("response", document) if key == "candidates" else document
            document = document.get(key)
        else:
            document = document[0] if key == 0 and isinstance(document, list) and document else None
    return document


def _ending(event: bytes) -> bytes:
    return event[len(event.rstrip()) :]
