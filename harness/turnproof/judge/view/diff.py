"""JSON values side by side: where they differ, by path, in few words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, TypeAlias

import msgspec

from ..._base.canonical import canonical
from ...messages import JSON


class Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = Absent()
"""What stands on the side that lacks a value; JSON's null is a value."""

_TELLING = ("part", "type", "role", "side", "thought")
"""Fields that say what kind of thing an object is, in neutral form or in that of some API."""

as_text = msgspec.json.Encoder().encode
"""The JSON of a value, its keys in the order that they have: what has the same text is equal."""


def equal(a: JSON, b: JSON) -> bool:
    """Whether two JSON values say the same. `1` and `1.0` do; `1` and `true`, `1` and `"1"` do not."""
    return as_text(a) == as_text(b) or next(walk(a, b), None) is None


def differences(a: JSON, b: JSON, *, names: tuple[str, str] = ("a", "b"), limit: int = 8) -> list[str]:
    """One line per place where two JSON values differ, at most `limit` of them; empty when they are equal."""
    if equal(a, b):
        return []
    return difference_lines(walk(a, b), names=names, limit=limit)


def difference_lines(
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


Steps: TypeAlias = tuple[str | int, ...]
"""The way to a place in a JSON value: keys and indices."""


def walk(a: JSON, b: JSON, path: str = "$") -> Iterator[tuple[str, object, object]]:
    """What `walk_steps` finds, with each place written as a path: `$.messages[0].text`."""
    for steps, left, right in walk_steps(a, b):
        yield as_path(steps, path), left, right


def as_path(steps: Steps, root: str = "$") -> str:
    """A place as a path: `$.messages[0].text`."""
    return root + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


def same_scalar(a: object, b: object) -> bool:
    """Whether two JSON values that are no object or list are equal. Unlike in Python, true is not 1; 2.0 is 2."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return a == b


def same_scalar_and_type(a: object, b: object) -> bool:
    """The same, but 2.0 is not 2: code that is given one may not be able to use the other."""
    return same_scalar(a, b) and isinstance(a, float) == isinstance(b, float)


def walk_steps(
    a: JSON, b: JSON, path: Steps = (), same: Callable[[object, object], bool] = same_scalar
) -> Iterator[tuple[Steps, object, object]]:
    """Every place where two JSON values differ: its path, and what stands there on each side (or `ABSENT`).

    Lists are aligned first, so that one item more is one difference and not one for each item after it. The index in a
    path is the one on the side that has the item, the left one where both have it. `same` compares what is no object
    or list.
    """
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from walk_steps(a.get(key, ABSENT), b.get(key, ABSENT), (*path, key), same)
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        for left, right in _aligned(a, b):
            index = right if left is None else left
            one = ABSENT if left is None else a[left]
            other = ABSENT if right is None else b[right]
            assert index is not None, "one side has the item"
            yield from walk_steps(one, other, (*path, index), same)
    elif not same(a, b):
        yield path, a, b


def present(document: JSON, steps: Steps) -> Steps:
    """The steps as far as a document has them: those to the place itself, or to the nearest thing around it."""
    for n, step in enumerate(steps):
        known = isinstance(document, dict) and step in document
        known = known or (isinstance(document, list | tuple) and isinstance(step, int) and step < len(document))
        if not known:
            return steps[:n]
        document = document[step]
    return steps


def steady(a: JSON, b: JSON, again: JSON) -> tuple[list[tuple[str, object, object]], list[str]]:
    """What `steady_steps` finds, with each place written as a path: `$.messages[0].text`."""
    found, noise = steady_steps(a, b, again)
    return [(as_path(steps), left, right) for steps, left, right in found], [as_path(steps) for steps in noise]


def steady_steps(a: JSON, b: JSON, again: JSON) -> tuple[list[tuple[Steps, object, object]], list[Steps]]:
    """Where two values differ, and the places of noise: where `b` differs from what it was when it was made `again`.

    What lies in the noise is no difference.
    """
    noise = [spot for spot, _, _ in _found(b, again)]
    return [found for found in _found(a, b) if not any(found[0][: len(spot)] == spot for spot in noise)], noise


def _found(a: JSON, b: JSON) -> list[tuple[Steps, object, object]]:
    """What `walk_steps` finds. Nearly all that is compared is the same, and then its text is too: no walk is needed."""
    if a is b or (a is not ABSENT and b is not ABSENT and as_text(a) == as_text(b)):
        return []
    return list(walk_steps(a, b))


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
