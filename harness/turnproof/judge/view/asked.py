"""How often a run asked its subject: what happened at the subject's own side, before anything is said of it.

A comparison proves nothing of an adapter that was never reached: a session that looks at the cancel token itself keeps
a requirement for it, and an adapter that raises at every call prints nothing either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from ...run import transcript as t
from .exchange import Exchange

Asked: TypeAlias = Literal["calls", "requests", "answers", "callbacks", "failures", "helpers", "steps"]
"""What is counted. Probes and children of a session count like any other part of the run.

- `calls`: provider calls that reached the adapter, whether or not it sent anything
- `requests`: requests for an answer of the model that the service received
- `answers`: requests that the service answered, whole or up to a cancel, and whose call returned a response
- `callbacks`: what the adapter passed on in calls that asked for an answer
- `failures`: requests that came to nothing on the wire: refused, broken, cut or answered with an error
- `helpers`: methods of the adapter beside `complete()` that a probe called
- `steps`: what was done with a session or an agent: opening it, a turn, an operation
"""

_STEPS: Final[tuple[type[t.Event], ...]] = (
    t.SessionOpened,
    t.TurnBegan,
    t.Saved,
    t.Loaded,
    t.Swapped,
    t.Reset,
    t.Reverted,
    t.Refused,
    t.Collected,
    t.SessionStepped,
    t.SaidBeside,
    t.ChildEnded,
)


def count(transcript: t.Transcript, exchanges: Sequence[Exchange], what: Asked) -> int:
    """How often it happened in a run with these exchanges. What does not show its calls is counted by its requests."""
    generating = [exchange for exchange in exchanges if exchange.generates]
    match what:
        case "calls":
            return len(transcript.of(t.CallBegan)) if _shows_calls(transcript) else len(generating)
        case "requests":
            return len(generating)
        case "answers":
            return _answers(transcript, generating)
        case "callbacks":
            calls = {(one.request.probe, one.request.call) for one in generating}
            callbacks = transcript.of(t.Chunk, t.Thinking, t.FunctionCallDetected, t.UsageUpdate)
            return sum((event.probe, event.call) in calls for event in callbacks)
        case "failures":
            return sum(not exchange.clean for exchange in generating)
        case "helpers":
            return len(transcript.of(t.HelperCalled))
        case "steps":
            return len(transcript.of(*_STEPS))


def _shows_calls(transcript: t.Transcript) -> bool:
    """Whether provider calls were seen. A probe of a session that shows none tells what was said again, on no path."""
    return any(began.path is not None for began in transcript.of(t.CallBegan))


def _answers(transcript: t.Transcript, requests: Sequence[Exchange]) -> int:
    answered = [exchange for exchange in requests if exchange.answered]
    if not _shows_calls(transcript):
        return len(answered)
    returned = {(event.probe, event.call) for event in transcript.of(t.Response)}
    # The exchanges of calls that a probe makes at once belong to none of them.
    probes = {probe for probe, _ in returned if probe}
    return sum((one.request.probe, one.request.call) in returned or one.request.probe in probes for one in answered)
