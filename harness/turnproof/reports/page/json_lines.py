"""JSON as lines of text that know their paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from ...messages import JSON
from .._text import printable, shortened

_LIMIT = 600


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line, indented; `path` is that of the value which stands or begins on it."""

    path: str
    text: str


def json_lines(value: JSON) -> list[JsonLine]:
    """A value as indented lines, long texts shortened in the middle. Everything in them is printable."""
    return list(_lines(value, "$", 0, "", ""))


def _lines(value: JSON, path: str, depth: int, before: str, after: str) -> Iterator[JsonLine]:
    margin = "  " * depth
    if isinstance(value, dict) and value:
        yield JsonLine(path, f"{margin}{before}{{")
        yield from _inside([(f"{path}.{key}", f"{_text(key)}: ", one) for key, one in value.items()], depth)
        yield JsonLine(path, f"{margin}}}{after}")
    elif isinstance(value, list | tuple) and value:
        yield JsonLine(path, f"{margin}{before}[")
        yield from _inside([(f"{path}[{number}]", "", one) for number, one in enumerate(value)], depth)
        yield JsonLine(path, f"{margin}]{after}")
    else:
        yield JsonLine(path, f"{margin}{before}{_text(value)}{after}")


def _inside(items: list[tuple[str, str, JSON]], depth: int) -> Iterator[JsonLine]:
    for number, (path, before, one) in enumerate(items, 1):
        yield from _lines(one, path, depth + 1, before, "," if number < len(items) else "")


def _text(value: JSON) -> str:
    return shortened(printable(json.dumps(value, ensure_ascii=False)), _LIMIT).replace("\n", " ")
