"""Whether a path works at all: a turn in which the service answered everything ends with an answer.

How a session gets over faults, limits and cancels is its own; whether both paths do it alike is another criterion's.
"""

from __future__ import annotations

from ...judge.finding import Compared
from ...judge.view import View
from .codes import closes
from .combined_runs import RunReasons

_NO_REQUEST = closes(
    "turns-answered/no-request", "No request was sent.", "a request, as the user said something", "none"
)
_NOT_ANSWERED = closes(
    "turns-answered/not-answered",
    "The service answered every request, and the turn did not end with an answer.",
    "{expected:words}",
    "{observed:words}",
)
_RAISED = closes(
    "turns-answered/raised",
    "The service answered every request, and the turn did not end with an answer.",
    "{expected:words}",
    "{observed:words} ({error:words}: {message:words})",
)


def turns_answered(view: View) -> RunReasons:
    """Each turn in which nothing was made to go wrong, and every request got its whole answer."""
    for turn in view.turns:
        if not turn.has_user_message or not turn.normal or turn.ended is None:
            continue
        turns = [
            one for one in view.exchanges if one.generates and not one.request.probe and one.request.turn == turn.index
        ]
        outcome = turn.ended.outcome
        if not turns:
            yield _NO_REQUEST(turn.at_event(turn.ended, "outcome"))
        elif outcome == "answer":
            yield Compared("turns with an answer")
        elif all(one.clean for one in turns):
            place = turn.at_event(turn.ended, "outcome")
            failed = turn.failed
            if failed is None:
                yield _NOT_ANSWERED(place, expected="answer", observed=outcome)
            else:
                yield _RAISED(place, expected="answer", observed=outcome, error=failed.error, message=failed.message)
