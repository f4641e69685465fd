"""How often a run asked its subject: what happened at the subject's own side, before anything is said of it.

A comparison proves nothing of an adapter that was never reached: a session that looks at the cancel token itself keeps
a requirement for it, and an adapter that raises at every call prints nothing either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from ...run.transcript import (
    CallBegan,
    Chunk,
    Collected,
    Event,
    FunctionCallDetected,
    Loaded,
    Refused,
    Reset,
    Response,
    Reverted,
    SaidBeside,
    Saved,
    SessionOpened,
    SessionStepped,
    Swapped,
    Thinking,
    TurnBegan,
    UsageUpdate,
)

if TYPE_CHECKING:
    from .run import View

Asked: TypeAlias = Literal["calls", "requests", "answers", "callbacks", "failures", "steps"]
"""What is counted. Probes and children of a session count like any other part of the run.

- `calls`: provider calls that reached the adapter, whether or not it sent anything
- `requests`: requests for an answer of the model that the service received
- `answers`: requests that the service answered, whole or up to a cancel, and whose call returned a response
- `callbacks`: what the adapter passed on in calls that asked for an answer
- `failures`: requests that came to nothing on the wire: refused, broken, cut or answered with an error
- `steps`: what was done with a session or an agent: opening it, a turn, an operation
"""

_STEPS: Final[tuple[type[Event], ...]] = (
    SessionOpened,
    TurnBegan,
    Saved,
    Loaded,
    Swapped,
    Reset,
    Reverted,
    Refused,
    Collected,
    SessionStepped,
    SaidBeside,
)


def count(view: View, what: Asked) -> int:
    """How often it happened in a run. A session that does not show its calls is counted by its requests."""
    match what:
        case "calls":
            return len(view.transcript.of(CallBegan)) or _requests(view)
        case "requests":
            return _requests(view)
        case "answers":
            return _answers(view)
        case "callbacks":
            asked = {(one.request.probe, one.request.call) for one in view.exchanges if one.generates}
            told = view.transcript.of(Chunk, Thinking, FunctionCallDetected, UsageUpdate)
            return sum((event.probe, event.call) in asked for event in told)
        case "failures":
            return sum(exchange.generates and not exchange.clean for exchange in view.exchanges)
        case "steps":
            return sum(isinstance(event, _STEPS) for event in view.transcript.events)


def _requests(view: View) -> int:
    return sum(exchange.generates for exchange in view.exchanges)


def _answers(view: View) -> int:
    answered = [exchange for exchange in view.exchanges if exchange.generates and exchange.answered]
    if not view.transcript.of(CallBegan):
        return len(answered)
    returned = {(event.probe, event.call) for event in view.transcript.of(Response)}
    # The exchanges of calls that a probe makes at once belong to none of them.
    probes = {event.probe for event in view.transcript.of(Response) if event.probe}
    return sum((one.request.probe, one.request.call) in returned or one.request.probe in probes for one in answered)
