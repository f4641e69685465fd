"""What a check says of a criterion: a verdict, lines of source that it is about, and the names of what is left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ..verdict import Verdict, inconclusive, violated

_SHOWN = 20


class Spot(msgspec.Struct, frozen=True, order=True):
    """A line of source, and what stands there. `file` is absolute, and in a report relative to the project's folder."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


class Decision(NamedTuple):
    """`left` names, one by one, what keeps the criterion closed, so that two gates can be compared: sorted, stable
    from run to run, and without numbers of lines."""

    verdict: Verdict
    spots: tuple[Spot, ...] = ()
    left: tuple[str, ...] = ()


def closed(
    left: Iterable[str], *, spots: Iterable[Spot] = (), where: str = "", evidence: Iterable[str] = ()
) -> Decision:
    """Closed by these things: the first in the message, and in the detail those that no line of source stands for."""
    names = sorted(set(left))
    lines = sorted(set(spots))
    told = [name for name in names if not any(_stands_for(spot, name) for spot in lines)]
    detail = shortened(told)
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    verdict = msgspec.structs.replace(
        violated(f"{names[0]}{more}", detail="\n".join(detail)),
        where=where,
        evidence=tuple(dict.fromkeys(digest for digest in evidence if digest)),
    )
    return Decision(verdict, tuple(lines), tuple(names))


def _stands_for(spot: Spot, name: str) -> bool:
    """Whether a line tells what this name tells: by the whole of it, or by the method, which a base class may have."""
    return spot.what.startswith(name) or spot.what.rpartition(".")[2] == name.rpartition(".")[2]


def shortened(lines: Sequence[str]) -> list[str]:
    """As many lines as a person reads, and how many there are more."""
    return [*lines[:_SHOWN], *([f"... and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])]


def unseen(reason: str) -> Decision:
    """Undecided, because this cannot be seen."""
    return Decision(inconclusive(reason))
