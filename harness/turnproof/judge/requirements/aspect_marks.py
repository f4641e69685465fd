"""Whether both paths have in common what an aspect reads, without reading it again for each question.

Which runs are made twice and what a requirement's verdict is both depend on it. A reading may be large, so a short
digest of it is what stays with the view.
"""

from __future__ import annotations

from hashlib import blake2b
from weakref import WeakKeyDictionary

from ..view import View
from ..view.diff import as_text, equal
from .registry import Aspect

NOTHING = b""
"""The mark of a run in which the aspect finds nothing."""

_known: WeakKeyDictionary[View, dict[Aspect, bytes]] = WeakKeyDictionary()


def mark(aspect: Aspect, view: View) -> bytes:
    """A digest of what the aspect reads from a run: where it is the same, the readings are. `NOTHING` for None."""
    marks = _known.setdefault(view, {})
    if aspect not in marks:
        reading = aspect(view)
        marks[aspect] = NOTHING if reading is None else blake2b(as_text(reading), digest_size=16).digest()
    return marks[aspect]


def agree(aspect: Aspect, one: View, other: View) -> bool:
    """Whether the aspect reads the same from both runs."""
    return mark(aspect, one) == mark(aspect, other) or equal(aspect(one), aspect(other))
