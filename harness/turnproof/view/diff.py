"""JSON values side by side: where they differ, by path, in few words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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

_TELLING = ("part", "type", "role", "side", "thought")
"""Fields that say what kind of thing an object is, in neutral form or in that of some API."""

_as_text = msgspec.json.Encoder().encode


def equal(a: JSON, b: JSON) -> bool:
    """Whether two JSON values say the same. `1` and `1.0` do; `1` and `true`, `1` and `"1"` do not."""
    return _as_text(a) == _as_text(b) or next(walk(a, b), None) is None


def differences(a: JSON, b: JSON, *, names: tuple[str, str] = ("a", "b"), limit: int = 8) -> list[str]:
    """One line per place where two JSON values differ, at most `limit` of them; empty when they are equal."""
    if equal(a, b):
        return []
    return told(walk(a, b), names=names, limit=limit)


def told(
    places: Iterable[tuple[str, object, object]], *, names: tuple[str, str] = ("a", "b"), limit: int = 8
) -> list[str]:
    """Places that `walk` found, in words: one line each, and `...` for all beyond `limit`."""
    lines: list[str] = []
    for path, left, right in places:
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

    Lists are aligned first, so that one item more is one difference and not one for each item after it. The index in a
    path is the one on the side that has the item, the left one where both have it.
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


def steady(a: JSON, b: JSON, again: JSON, path: str = "$") -> tuple[list[tuple[str, object, object]], list[str]]:
    """Where two values differ, and the paths of noise: where `b` differs from what it was when it was made `again`.

    What lies in the noise is no difference.
    """
    noise = [spot for spot, _, _ in _found(b, again, path)]
    return [found for found in _found(a, b, path) if not any(_lies_in(found[0], spot) for spot in noise)], noise


def _found(a: JSON, b: JSON, path: str) -> list[tuple[str, object, object]]:
    """What `walk` finds. Nearly all that is compared is the same, and then its text is, too: no walk is needed."""
    if a is b or (a is not ABSENT and b is not ABSENT and _as_text(a) == _as_text(b)):
        return []
    return list(walk(a, b, path))


def _lies_in(path: str, spot: str) -> bool:
    return path == spot or (path.startswith(spot) and path[len(spot)] in ".[")


def _aligned(a: Sequence[JSON], b: Sequence[JSON]) -> Iterator[tuple[int | None, int | None]]:
    """The indices of items that belong together; None on the side that has no counterpart.

    Items that are equal belong together, and between those, in order, items that may be two versions of one thing.
    """
    if len(a) == len(b) and all(map(_akin, a, b)):
        yield from zip(range(len(a)), range(len(b)), strict=True)
        return
    ours, theirs = ([canonical(item) for item in side] for side in (a, b))
    for _, start, stop, begin, end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        yield from _paired(a, b, range(start, stop), range(begin, end))


def _paired(
    a: Sequence[JSON], b: Sequence[JSON], ours: Iterable[int], theirs: Iterable[int]
) -> Iterator[tuple[int | None, int | None]]:
    free = list(theirs)
    for left in ours:
        partner = next((right for right in free if _akin(a[left], b[right])), None)
        if partner is None:
            yield left, None
            continue
        while (right := free.pop(0)) != partner:
            yield None, right
        yield left, partner
    yield from ((None, right) for right in free)


def _akin(a: JSON, b: JSON) -> bool:
    """Whether two items may be versions of one thing: not a thought and a text, nor the messages of two roles."""
    if not isinstance(a, dict) or not isinstance(b, dict):
        return type(a) is type(b)
    return all(a.get(name) == b.get(name) for name in _TELLING) and bool(a.keys() & b.keys() or a == b)


def _same_scalar(a: object, b: object) -> bool:
    # bool is an int to Python, but not to a tool that asked for a number.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return a == b
