"""An exception with all its frames: the subject's own stand open, runs of others' are folded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ..._base.counts import counted
from ...run.tracebacks import Frame, Owner, Raised

_WHOSE: dict[Owner, str] = {
    "subject": "your code",
    "sdk": "installed packages",
    "turnproof": "turnproof",
    "library": "Python's library",
}


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames of one owner, one after the other. `own` says that they are the subject's."""

    own: bool
    words: str
    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Traceback:
    """An exception. `link` says how it belongs to the one after it, `members` are those of a group."""

    link: str
    title: str
    frames: tuple[Frames, ...]
    notes: tuple[str, ...]
    members: tuple[tuple[Traceback, ...], ...]
    omitted: str


def tracebacks(raised: Raised) -> tuple[Traceback, ...]:
    """The exception and what is behind it, in the order of a Python traceback: the one that was raised is the last."""
    return tuple(_chain(raised, ""))


def _chain(raised: Raised, link: str) -> Iterator[Traceback]:
    if raised.cause is not None:
        yield from _chain(raised.cause, "which was the direct cause of:")
    if raised.context is not None:
        yield from _chain(raised.context, "and while it was handled, another exception was raised:")
    left_out = raised.exceptions_omitted
    yield Traceback(
        link=link,
        title=raised.title,
        frames=tuple(_frames(raised)),
        notes=raised.notes,
        members=tuple(tracebacks(member) for member in raised.exceptions),
        omitted=f"{counted(left_out, 'more exception')} behind it left out" if left_out else "",
    )


def _frames(raised: Raised) -> Iterator[Frames]:
    before, after = raised.frames[: raised.omitted_at], raised.frames[raised.omitted_at :]
    yield from _runs(before)
    if raised.frames_omitted:
        yield Frames(False, f"{counted(raised.frames_omitted, 'frame')} left out", ())
    yield from _runs(after)


def _runs(frames: tuple[Frame, ...]) -> Iterator[Frames]:
    for owner, group in groupby(frames, key=lambda frame: frame.owner):
        some = tuple(group)
        yield Frames(owner == "subject", f"{counted(len(some), 'frame')} of {_WHOSE.get(owner, owner)}", some)
