"""Which answer of a turn each thing belongs to that the session showed: a piece of text, a thought, a call, figures.

What is shown of an answer is shown after its request came, and before the next one. A session may be late with it: it
passes things on from a queue, say, while the next request is on its way. Then nobody knows what belongs to which.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...messages import FunctionCall
from ...run.transcript import (
    Chunk,
    Event,
    FunctionCallDetected,
    Retried,
    TakenBack,
    Thinking,
    UsageUpdate,
    WireRequest,
)
from .call import Callback
from .exchange import Exchange


def events_of(events: Sequence[Event], exchanges: Sequence[Exchange]) -> list[list[Event]]:
    """The events of a turn between the request of each exchange and that of the next one."""
    numbers = {exchange.number: n for n, exchange in enumerate(exchanges)}
    found: list[list[Event]] = [[] for _ in exchanges]
    at = -1
    for event in events:
        if isinstance(event, WireRequest):
            at = numbers.get(event.exchange, at)
        elif at >= 0:
            found[at].append(event)
    return found


def shown_callbacks(
    events: Sequence[Sequence[Event]], exchanges: Sequence[Exchange], answers: Collection[int]
) -> list[list[Callback]] | None:
    """What had been shown of the answer of each exchange when it ended; None where the session was late with a call.

    `answers` are the numbers of those that the session took. An answer that was asked for again begins with what an
    earlier attempt had shown of it, unless that was taken back.
    """
    found: list[list[Callback]] = []
    earlier: list[Callback] = []
    for n, own_events in enumerate(events):
        shown = list(earlier)
        for event in own_events:
            if isinstance(event, TakenBack):
                # Said when the answer that replaces it has begun: what was shown is that of the attempts before.
                shown = []
            elif isinstance(event, Chunk | Thinking | FunctionCallDetected | UsageUpdate):
                shown.append(event)
        found.append(shown)
        earlier = [] if n in answers else shown
    return None if _is_late(found, exchanges) else found


def failure_of(events: Sequence[Event]) -> Retried | None:
    """The wait for another attempt behind an answer, where the session has told what it waits for."""
    return next((event for event in events if isinstance(event, Retried) and event.failure is not None), None)


def _is_late(found: Sequence[Sequence[Callback]], exchanges: Sequence[Exchange]) -> bool:
    missing: set[str] = set()
    for shown, exchange in zip(found, exchanges, strict=True):
        announced = {event.function_call.id for event in shown if isinstance(event, FunctionCallDetected)}
        if announced & missing:
            return True
        parts = exchange.answer.parts if exchange.answer is not None else ()
        missing |= {part.id for part in parts if isinstance(part, FunctionCall)} - announced
    return False
