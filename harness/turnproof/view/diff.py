"""JSON values side by side: where they differ, by path, in few words."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..messages import JSON

_ABSENT = object()
_as_text = msgspec.json.Encoder().encode


def equal(a: JSON, b: JSON) -> bool:
    """Whether two JSON values say the same. `1` and `1.0` do; `1` and `true`, `1` and `"1"` do not."""
    return _as_text(a) == _as_text(b) or next(_walk(a, b, "$"), None) is None


def differences(a: JSON, b: JSON, *, names: tuple[str, str] = ("a", "b"), limit: int = 8) -> list[str]:
    """One line per place where two JSON values differ, at most `limit` of them; empty when they are equal."""
    lines: list[str] = []
    if equal(a, b):
        return lines
    for path, left, right in _walk(a, b, "$"):
        if len(lines) == limit:
            lines.append("...")
            break
        lines.append(f"{path}: {names[0]} {show(left)}, {names[1]} {show(right)}")
    return lines


def show(value: object, width: int = 160) -> str:
    """A value for a message: `repr`, shortened in the middle so that both ends stay readable."""
    if value is _ABSENT:
        return "(absent)"
    text = repr(value)
    if len(text) <= width:
        return text
    half = (width - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def _walk(a: JSON, b: JSON, path: str) -> Iterator[tuple[str, object, object]]:
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            yield from _walk(a.get(key, _ABSENT), b.get(key, _ABSENT), f"{path}.{key}")
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        for index in range(max(len(a), len(b))):
            left = a[index] if index < len(a) else _ABSENT
            right = b[index] if index < len(b) else _ABSENT
            yield from _walk(left, right, f"{path}[{index}]")
    elif not _same_scalar(a, b):
        yield path, a, b


def _same_scalar(a: object, b: object) -> bool:
    # bool is an int to Python, but not to a tool that asked for a number.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return a == b
