"""Where in a run a verdict points: what its message says of turn and call, and the JSON paths in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...verdict import Verdict

_TURN = re.compile(r"\bturn (\d+)(?: round \d+ \(call (\d+))?")
_PATH = re.compile(r"\$(?:\.\w+|\[\d+\])+")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a run, counted from 0; -1 for what the verdict does not tell. `paths` point into JSON."""

    turn: int = -1
    call: int = -1
    paths: tuple[str, ...] = ()


def place_of(verdict: Verdict) -> Place:
    """The first place that a verdict names."""
    found = _TURN.search(verdict.message)
    paths = dict.fromkeys(_PATH.findall(f"{verdict.message}\n{verdict.detail}"))
    if found is None:
        return Place(paths=tuple(paths))
    return Place(int(found[1]), int(found[2]) if found[2] else -1, tuple(paths))
