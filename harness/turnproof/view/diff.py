"""JSON values side by side: where they differ, by path, in few words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

import msgspec

from .._canonical import canonical
from ..messages import JSON


class Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = Absent()
"""What stands on the side that lacks a value; JSON's null is a value."""

_as_text = msgspec.json.Encoder().encode


def equal(a: JSON, b: JSON) -> bool:
    """Whether two JSON values say the same. `1` and `1.0` do; `1` and `true`, `1` and `"1"` do not."""
    return _as_text(a) == _as_text(b) or next(walk(a, b), None) is None


def differences(a: JSON, b: JSON, *, names: tuple[str, str] = ("a", "b"), limit: int = 8) -> list[str]:
    """One line per place where two JSON values differ, at most `limit` of them; empty when they are equal."""
    lines: list[str] = []
    if equal(a, b):
        return lines
    for path, left, right in walk(a, b):
        if len(lines) == limit:
            lines.append("...")
            break
        lines.append(f"{path}: {names[0]} {show(left)}, {names[1]} {show(right)}")
    return lines


def show(value: object, width: int = 160) -> str:
    """A value for a message: `repr`, shortened in the middle so that both ends stay readable."""
    text = repr(value)
    if len(text) <= width:
        return text
    half = (width - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def walk(a: JSON, b: JSON, path: str = "$") -> Iterator[tuple[str, object, object]]:
    """Every place where two JSON values differ: its path, and what stands there on each side (or `ABSENT`).

    Lists of unequal length are aligned first, so that one item more is one difference and not one for each item after
    it. The index in a path is the one on the side that has the item, the left one where both have it.
    """
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from walk(a.get(key, ABSENT), b.get(key, ABSENT), f"{path}.{key}")
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        for left, right in _aligned(a, b):
            index = right if left is None else left
            one = ABSENT if left is None else a[left]
            other = ABSENT if right is None else b[right]
            yield from walk(one, other, f"{path}[{index}]")
    elif not _same_scalar(a, b):
        yield path, a, b


def _aligned(a: Sequence[JSON], b: Sequence[JSON]) -> Iterator[tuple[int | None, int | None]]:
    """The indices of items that belong together; None on the side that has no counterpart."""
    if len(a) == len(b):
        yield from zip(range(len(a)), range(len(b)), strict=True)
        return
    matcher = SequenceMatcher(None, [canonical(item) for item in a], [canonical(item) for item in b], autojunk=False)
    for _, start, stop, begin, end in matcher.get_opcodes():
        for offset in range(max(stop - start, end - begin)):
            yield (
                start + offset if start + offset < stop else None,
                begin + offset if begin + offset < end else None,
            )


def _same_scalar(a: object, b: object) -> bool:
    # bool is an int to Python, but not to a tool that asked for a number.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return a == b
