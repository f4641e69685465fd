"""JSON as lines of text that know where they stand: a value whole, or the frame around one place in it.

Everything here is bounded by what it shows and not by what it is given: of a long text the part around the difference
is shown, of a long list what stands near the place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...judge.finding import tokens
from ...judge.finding_words import first_difference, value_text
from ...messages import JSON
from ..limits import (
    JSON_DEPTH,
    JSON_ITEMS,
    JSON_LINES,
    JSON_NEIGHBOUR_CHARACTERS,
    JSON_NEIGHBOURS,
    JSON_TEXT_CHARACTERS,
)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line, indented. `pointer` is that of the value which stands, begins or ends on it, None for a `gap`.

    `mark` is `here` for the line that was pointed to, and `within` for those of the same value.
    """

    pointer: str | None
    text: str
    mark: str = ""

    @property
    def gap(self) -> bool:
        """Whether it stands for something that is left out."""
        return self.pointer is None


@dataclass(frozen=True, slots=True)
class Frame:
    """The lines around a place. `lacks` is the part of the pointer that leads to nothing; empty for a place found."""

    lines: tuple[JsonLine, ...]
    lacks: str = ""


def json_lines(value: JSON) -> Iterator[JsonLine]:
    """A value as indented lines. Everything in them is printable."""
    return _lines(value, "", 0, "", "", None)


def frame(document: JSON, pointer: str, other: object = None) -> Frame:
    """The place with what stands around it. `other` is what it is compared with: a long text is cut around the first
    difference. What the pointer names and the document lacks is marked where it would stand."""
    way: list[str] = []
    found, rest = document, list(tokens(pointer))
    while rest and (item := _item(found, rest[0])) is not None:
        found = item[0]
        way.append(rest.pop(0))
    lines = tuple(_frame(document, "", way, 0, "", "", other))
    return Frame(lines, "".join(f"/{_escaped(token)}" for token in rest))


def _frame(
    value: JSON, pointer: str, way: list[str], depth: int, before: str, after: str, other: object
) -> Iterator[JsonLine]:
    if not way:
        lines = _lines(value, pointer, depth, before, after, other)
        for number, line in enumerate(islice(lines, JSON_LINES)):
            yield JsonLine(line.pointer, line.text, "within" if number and pointer else "" if number else "here")
        if next(lines, None) is not None:
            yield JsonLine(None, f"{'  ' * (depth + 1)}… more …")
        return
    margin = "  " * depth
    yield JsonLine(pointer, f"{margin}{before}{'{' if isinstance(value, dict) else '['}")
    items = _items(value, pointer)
    at = next(n for n, key in enumerate(value) if key == way[0]) if isinstance(value, dict) else int(way[0])
    first, end = max(0, at - JSON_NEIGHBOURS), min(len(value), at + JSON_NEIGHBOURS + 1)
    if first:
        yield _gap(first, depth + 1)
    for number, (below, name, item) in enumerate(islice(items, first, end), first):
        comma = "," if number + 1 < len(value) else ""
        if number == at:
            yield from _frame(item, below, way[1:], depth + 1, name, comma, other)
        else:
            yield JsonLine(below, f"{margin}  {name}{one_line_of(item)}{comma}")
    if end < len(value):
        yield _gap(len(value) - end, depth + 1)
    yield JsonLine(pointer, f"{margin}{'}' if isinstance(value, dict) else ']'}{after}")


def _lines(value: JSON, pointer: str, depth: int, before: str, after: str, other: object) -> Iterator[JsonLine]:
    margin = "  " * depth
    if not isinstance(value, dict | list | tuple) or not value or depth > JSON_DEPTH:
        text = one_line_of(value) if isinstance(value, dict | list | tuple) else scalar(value, other)
        yield JsonLine(pointer, f"{margin}{before}{text}{after}")
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield JsonLine(pointer, f"{margin}{before}{opening}")
    left_out = max(0, len(value) - JSON_ITEMS)
    if left_out:
        yield _gap(left_out, depth + 1)
    for number, (below, name, item) in enumerate(islice(_items(value, pointer), left_out, None), left_out + 1):
        yield from _lines(item, below, depth + 1, name, "," if number < len(value) else "", None)
    yield JsonLine(pointer, f"{margin}{closing}{after}")


def scalar(value: JSON, other: object = None) -> str:
    """A text, a number or a word as JSON on one line; of a long text the part around where it differs from `other`."""
    if not isinstance(value, str) or len(value) <= JSON_TEXT_CHARACTERS:
        return value_text(value)
    at = first_difference(value, other) if isinstance(other, str) else 0
    start = max(0, min(at - JSON_TEXT_CHARACTERS // 2, len(value) - JSON_TEXT_CHARACTERS))
    piece = value_text(value[start : start + JSON_TEXT_CHARACTERS])
    head, tail = ("… " if start else ""), (" …" if start + JSON_TEXT_CHARACTERS < len(value) else "")
    return f"{head}{piece}{tail} ({len(value)} characters)"


def one_line_of(value: JSON, room: int = JSON_NEIGHBOUR_CHARACTERS) -> str:
    """The beginning of a value on one line."""
    text = ""
    for piece in _pieces(value, 0):
        text += piece
        if len(text) > room:
            return f"{text[:room]} …"
    return text


def _pieces(value: JSON, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value_text(value[:JSON_TEXT_CHARACTERS])
    elif not isinstance(value, dict | list | tuple):
        yield value_text(value)
    elif depth > JSON_DEPTH:
        yield "…"
    else:
        yield "{" if isinstance(value, dict) else "["
        for number, (_, name, item) in enumerate(_items(value, "")):
            yield (", " if number else "") + name
            yield from _pieces(item, depth + 1)
        yield "}" if isinstance(value, dict) else "]"


def _items(value: JSON, pointer: str) -> Iterator[tuple[str, str, JSON]]:
    """Each item with its pointer, and its name as it stands in front of it."""
    if isinstance(value, dict):
        for key, item in value.items():
            name = str(key)
            yield (
                f"{pointer}/{_escaped(name[:JSON_TEXT_CHARACTERS])}",
                f"{value_text(name[:JSON_TEXT_CHARACTERS])}: ",
                item,
            )
    else:
        for number, item in enumerate(value):
            yield f"{pointer}/{number}", "", item


def _item(value: JSON, token: str) -> tuple[JSON] | None:
    """What a token leads to, in a tuple of its own, since it may be null; None where it leads to nothing."""
    if isinstance(value, dict):
        return (value[token],) if token in value else None
    if isinstance(value, list | tuple) and token.isdecimal() and int(token) < len(value):
        return (value[int(token)],)
    return None


def _gap(count: int, depth: int) -> JsonLine:
    return JsonLine(None, f"{'  ' * depth}… {count} more …")


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")
