"""The bytes of an exchange as they went over the wire, with the places marked that a finding points to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...judge.finding import ByteSpan, tokens
from ...run.transcript import WireRequest, WireResponse
from ..limits import RAW_BYTES, RAW_BYTES_BEFORE

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}]+")
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some characters. `escape` says that they stand for bytes that cannot be seen."""

    text: str
    escape: bool
    marked: bool


@dataclass(frozen=True, slots=True)
class Raw:
    """One side of an exchange. `head` are its first line and headers, as far as evidence keeps them.

    `before` and `after` count bytes that are not shown. `note` says what is special about the bytes.
    """

    title: str
    head: tuple[str, ...]
    pieces: tuple[Piece, ...]
    size: int
    before: int = 0
    after: int = 0
    note: str = ""


def raw_request(request: WireRequest, pointers: Iterable[str]) -> Raw:
    """A request with the values marked that these JSON Pointers lead to."""
    data = request.data
    spans = [span for pointer in pointers if pointer and (span := json_span(data, pointer)) is not None]
    head = (f"{request.method} {request.path}", *(f"{name}: {value}" for name, value in request.headers.items()))
    return _raw(f"request of exchange {request.exchange}", head, data, spans)


def raw_response(response: WireResponse, spans: Sequence[ByteSpan], note: str = "") -> Raw:
    """An answer with these bytes marked."""
    head = (f"status {response.status}", *(f"{name}: {value}" for name, value in response.headers.items()))
    return _raw(f"answer of exchange {response.exchange}", head, response.bytes_sent, spans, note)


def _raw(title: str, head: tuple[str, ...], data: bytes, spans: Sequence[ByteSpan], note: str = "") -> Raw:
    start, end = 0, len(data)
    if len(data) > RAW_BYTES:
        first = min((span.start for span in spans), default=0)
        start = _border(data, max(0, min(first - RAW_BYTES_BEFORE, len(data) - RAW_BYTES)))
        end = _border(data, start + RAW_BYTES)
    pieces = tuple(_pieces(data[start:end], [(span.start - start, span.end - start) for span in spans]))
    return Raw(title, head, pieces, len(data), start, len(data) - end, note)


def _border(data: bytes, at: int) -> int:
    """The beginning of the character that this byte belongs to."""
    first = max(0, at - 3)
    while at > first and at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _pieces(data: bytes, spans: Sequence[tuple[int, int]]) -> Iterator[Piece]:
    for (escape, marked), group in groupby(_characters(data, spans), key=lambda one: one[1:]):
        yield Piece("".join(text for text, _, _ in group), escape, marked)


def _characters(data: bytes, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[str, bool, bool]]:
    at = 0
    text = data.decode("utf-8", "surrogateescape")
    for number, letter in enumerate(text):
        marked = any(start <= at < end for start, end in spans)
        at += len(letter.encode("utf-8", "surrogateescape"))
        yield (_escape(letter), True, marked) if not letter.isprintable() else (letter, False, marked)
        if letter == "\n" or (letter == "\r" and text[number + 1 : number + 2] != "\n"):
            yield "\n", False, False


def _escape(letter: str) -> str:
    if letter in "\r\n\t":
        return {"\r": r"\r", "\n": r"\n", "\t": r"\t"}[letter]
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def json_span(data: bytes, pointer: str) -> ByteSpan | None:
    """The bytes of the value that a JSON Pointer leads to; None where it leads to nothing, or the body is no JSON."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        start, end = _find(text, _skip(text, 0), tokens(pointer))
    except (ValueError, IndexError):
        return None
    before = len(text[:start].encode("utf-8", "surrogateescape"))
    return ByteSpan(before, before + len(text[start:end].encode("utf-8", "surrogateescape")))


def _find(text: str, at: int, way: Sequence[str]) -> tuple[int, int]:
    """Where the value begins and ends. Raises ValueError or IndexError where there is none."""
    for token in way:
        found = next((below for name, below in _children(text, at) if name == token), None)
        if found is None:
            raise ValueError(token)
        at = found
    return at, _end(text, at)


def _children(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The name or number of each item of the object or list that begins here, and where it begins."""
    is_object = text[at] == "{"
    if not is_object and text[at] != "[":
        return
    at, number = _skip(text, at + 1), 0
    while text[at] not in "}]":
        name = str(number)
        if is_object:
            found = _STRING.match(text, at)
            if found is None:
                raise ValueError(at)
            name = _name(found[0])
            at = _skip(text, _skip(text, found.end()) + 1)
        yield name, at
        at, number = _skip(text, _end(text, at)), number + 1
        if text[at] == ",":
            at = _skip(text, at + 1)


def _end(text: str, at: int) -> int:
    """Where the value that begins here ends."""
    depth = 0
    while True:
        at = _skip(text, at)
        if text[at] in "{[":
            depth, at = depth + 1, at + 1
        elif text[at] in "}]":
            depth, at = depth - 1, at + 1
        elif text[at] in ",:":
            at += 1
            continue
        else:
            found = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
            if found is None:
                raise ValueError(at)
            at = found.end()
        if depth <= 0:
            return at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _name(text: str) -> str:
    return str(json.loads(text, strict=False))
