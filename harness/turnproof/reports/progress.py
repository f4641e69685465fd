"""How far a command has come, on one line of a terminal that is written over and over."""

from __future__ import annotations

import sys
from collections.abc import Callable


def progress() -> Callable[[int, int, str], None]:
    """A function of what is done, of how much, and what it is; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        return lambda done, total, what: None

    def show(done: int, total: int, what: str) -> None:
        end = "\n" if done == total else ""
        print(f"\r\x1b[K{done}/{total} {what}", end=end, file=sys.stderr, flush=True)

    return show
