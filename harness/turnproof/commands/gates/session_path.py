"""Which path a session really took: what it says, and down which path its provider calls went."""

from __future__ import annotations

from collections.abc import Iterator

from ...judge.finding import Compared, Place, Side
from ...judge.view import View
from ...provider import Path
from ...run.transcript import CallBegan, SessionOpened
from .codes import closes
from .combined_runs import RunReasons

_CALLS_ANOTHER = closes(
    "path-taken/calls-another",
    "The session calls its provider on the wrong path.",
    "the {expected:words} path",
    "calls on the {observed:words} path",
)
_NAMES_ANOTHER = closes(
    "path-taken/names-another",
    "The session names the wrong path as its own.",
    "the {expected:words} path",
    "the {observed:words} path",
)
_CONTRADICTS = closes(
    "path-taken/calls-contradict-the-name",
    "The session names one path and calls its provider on another.",
    "calls on the {expected:words} path, which it names",
    "calls on the {observed:words} path",
)


def path_taken(view: View, expected: Path) -> RunReasons:
    """Both signs, as far as a run shows them, against the path that the flag has to lead to.

    Calls count for more than words: a session that names one path and calls the other is told so.
    """
    named_path, used_paths = named_path_of(view), called_paths(view)
    wrong = sorted(used_paths - {expected})
    if wrong:
        code = _CONTRADICTS if named_path == expected else _CALLS_ANOTHER
        yield code(_first_call(view, wrong[0]), expected=expected, observed=wrong[0])
    elif named_path not in (None, expected):
        session_event = view.transcript.of(SessionOpened)[-1]
        yield _NAMES_ANOTHER(view.at_event(session_event, "path"), expected=expected, observed=named_path)
    else:
        yield from _signs(named_path, used_paths)


def _first_call(view: View, path: str) -> Place:
    """The messages of the first call on a path."""
    first = next(one for one in view.transcript.of(CallBegan) if one.path == path and not one.probe)
    call_of_event = next((call for call in view.calls if call.began is first), None)
    return call_of_event.at(Side.HISTORY) if call_of_event is not None else view.at(Side.PROCESS, turn=first.turn)


def on_path(view: View, expected: Path) -> bool:
    """Whether nothing in a run speaks for another path, and something for this one."""
    signs = called_paths(view) | ({named_path} if (named_path := named_path_of(view)) is not None else set())
    return signs == {expected}


def named_path_of(view: View) -> Path | None:
    """The path that the session gave as its own; None where it does not tell."""
    events = view.transcript.of(SessionOpened)
    return events[-1].path if events else None


def called_paths(view: View) -> set[Path]:
    """The paths of the provider calls; none where the session opens its provider itself."""
    return {call.path for call in view.transcript.of(CallBegan) if call.path is not None and not call.probe}


def _signs(named_path: Path | None, used_paths: set[Path]) -> Iterator[Compared]:
    if used_paths:
        yield Compared("calls of the provider")
    if named_path is not None:
        yield Compared("paths that the session names")
