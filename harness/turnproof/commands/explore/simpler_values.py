"""Values made simpler: JSON of any shape, and texts of which one letter may be what matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

_FEW: Final = 40
"""Up to so many letters each one is tried without."""


def simpler(value: Any) -> Iterator[Any]:
    """JSON values simpler than this one, the simplest first."""
    match value:
        case dict():
            yield from ({key: value[key] for key in value if key != name} for name in value)
            yield from ({**value, name: one} for name, inner in value.items() for one in simpler(inner))
        case list():
            yield from (value[:place] + value[place + 1 :] for place in range(len(value)))
            yield from ([*value[:n], one, *value[n + 1 :]] for n, inner in enumerate(value) for one in simpler(inner))
        case str():
            yield from shorter(value)
        case bool() | None | 0:
            pass
        case _:
            yield 0


def shorter(text: str) -> Iterator[str]:
    """Parts of a text: its halves, then all but one letter."""
    if len(text) > 1:
        yield text[len(text) // 2 :]
        yield text[: len(text) // 2]
    if 2 < len(text) <= _FEW:
        yield from (text[:place] + text[place + 1 :] for place in range(len(text)))
