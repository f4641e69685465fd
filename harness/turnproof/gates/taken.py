"""Which path a session really took: what it says, and down which path its provider calls went."""

from __future__ import annotations

from collections.abc import Iterator

from ..provider import Path
from ..requirements import Findings
from ..transcript import CallBegan, SessionOpened
from ..verdict import violated
from ..view import View


def path_taken(view: View, expected: Path) -> Findings:
    """Both signs, as far as a run shows them, against the path that the flag has to lead to.

    Calls count for more than words: a session that names one path and calls the other is told so.
    """
    said, called = said_path(view), called_paths(view)
    wrong = sorted(called - {expected})
    if wrong and said == expected:
        yield violated(f"the session says that it is on the {said} path, and calls its provider on the {wrong[0]} one")
    elif wrong:
        yield violated(f"the session calls its provider on the {wrong[0]} path, not on the {expected} one")
    elif said not in (None, expected):
        yield violated(f"the session says that it is on the {said} path, not on the {expected} one")
    else:
        yield from _signs(said, called)


def on_path(view: View, expected: Path) -> bool:
    """Whether nothing in a run speaks for another path, and something for this one."""
    signs = called_paths(view) | ({said} if (said := said_path(view)) is not None else set())
    return signs == {expected}


def said_path(view: View) -> Path | None:
    """The path that the session gave as its own; None where it does not tell."""
    opened = view.transcript.of(SessionOpened)
    return opened[-1].path if opened else None


def called_paths(view: View) -> set[Path]:
    """The paths of the provider calls; none where the session opens its provider itself."""
    return {call.path for call in view.transcript.of(CallBegan) if call.path is not None and not call.probe}


def _signs(said: Path | None, called: set[Path]) -> Iterator[str]:
    if called:
        yield "calls of the provider"
    if said is not None:
        yield "paths that the session names"
