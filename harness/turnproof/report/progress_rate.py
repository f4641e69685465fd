"""How fast something goes, and how long the rest of it may take: nothing is said before it can be known."""

from __future__ import annotations

from collections import deque

_WINDOW = 20.0
"""Seconds that a rate is taken over: the first runs import an SDK, and say little of those that follow."""
_SECONDS, _THINGS, _SHARE = 3.0, 5, 0.03
"""Of the time, the things done, and all there are to do: what has to be behind us before an estimate is honest."""


class Pace:
    """Things that are done one after the other, at moments that the caller tells (in seconds, never falling)."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._marks = deque([(start, 0)])

    def mark(self, now: float, done: int) -> None:
        """So many are done by now."""
        self._marks.append((now, done))
        self._forget(now)

    def left(self, now: float, done: int, total: int) -> float | None:
        """Seconds until all of `total` are done; None before that can be known, and where nothing moves any more."""
        if done < max(_THINGS, _SHARE * total) or now - self._start < _SECONDS:
            return None
        self._forget(now)
        began, before = self._marks[0]
        gained = done - before
        return (total - done) * (now - began) / gained if gained > 0 else None

    def rate(self, now: float) -> float | None:
        """Things a second; None before that can be known, and where nothing moves any more."""
        self._forget(now)
        began, before = self._marks[0]
        done = self._marks[-1][1] - before
        return done / (now - began) if done >= _THINGS and now - began >= 1 else None

    def _forget(self, now: float) -> None:
        while len(self._marks) > 1 and self._marks[1][0] <= now - _WINDOW:
            self._marks.popleft()


def in_words(seconds: float) -> str:
    """Time left, as coarse as an estimate is."""
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {round(seconds / 10) * 10} s left"
    return f"about {round(seconds / 60)} min left"


def time_text(seconds: float) -> str:
    """Time gone by, as `0:07` or `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
