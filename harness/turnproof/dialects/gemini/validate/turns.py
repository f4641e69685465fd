"""The order of turns, and that every call has its response.

Judged on merged turns, with what a managed cache holds in front. The service pairs by position and count; where calls
have ids it is told to pair by these, but was not seen refusing others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base import Refusal
from .. import rules
from ..conversation import Placed, Turn
from .context import Context, refuse

_CALL_TURN = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_RESPONSE_TURN = "Please ensure that function response turn comes immediately after a function call turn."
_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_LAST = "Please ensure that single turn requests end with a user role or the role field is empty."


def check(context: Context) -> Iterator[Refusal]:
    """Rules between neighbouring turns, and about the last one."""
    previous: Turn | None = None
    for turn in context.turns:
        if turn.role == "model":
            yield from _calls(turn, previous)
        else:
            yield from _responses(turn, previous)
        previous = turn
    if previous is not None and previous.role == "model":
        yield refuse(rules.LAST_IS_MODEL, _LAST, f"contents[{previous.last}]")
        yield from _dangling(previous)


def _calls(turn: Turn, previous: Turn | None) -> Iterator[Refusal]:
    calls = turn.parts_with("functionCall")
    if calls and previous is None:
        yield refuse(rules.CALL_TURN, _CALL_TURN, calls[0].path)


def _responses(turn: Turn, previous: Turn | None) -> Iterator[Refusal]:
    responses = turn.parts_with("functionResponse")
    calls = previous.parts_with("functionCall") if previous else []
    if not responses:
        if previous is not None:
            yield from _dangling(previous)
    elif not calls:
        yield refuse(rules.RESPONSE_TURN, _RESPONSE_TURN, responses[0].path)
    elif len(responses) != len(calls):
        yield refuse(rules.RESPONSE_COUNT, _COUNT, responses[0].path)
    else:
        yield from _unpaired(calls, responses)


def _dangling(turn: Turn) -> Iterator[Refusal]:
    calls = turn.parts_with("functionCall")
    if calls:
        yield refuse(rules.DANGLING_CALL, _RESPONSE_TURN, calls[0].path)


def _unpaired(calls: Sequence[Placed], responses: Sequence[Placed]) -> Iterator[Refusal]:
    call_identities = {_identity(placed, "functionCall") for placed in calls}
    for placed in responses:
        if _identity(placed, "functionResponse") not in call_identities:
            name = placed.part["functionResponse"].get("name", "")
            message = f"Function response `{name}` has the id and name of no call of the function call turn."
            yield refuse(rules.RESPONSE_PAIRING, message, placed.path)


def _identity(placed: Placed, field: str) -> tuple[str, str]:
    data = placed.part[field]
    return data.get("id", ""), data.get("name", "")
