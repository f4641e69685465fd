"""What a request is answered, however the answer then reaches the client: refused, failed on purpose, or served."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, replace
from email.utils import formatdate

from ...dialects.base import Call, Refusal, Rendered, Rule
from ...scenarios.model import Cut, Fault, Turn
from .content_codings import unread_coding
from .incoming import Incoming
from .responders import due, rounds_since_user
from .server_run import Exchange, ServerRun

CHILD_LIMIT = 6.0
"""Seconds that the answer to a child waits for others at the most: longer than it takes a session that speaks to one at
a time to be known as such."""

_LOOK = 0.002
"""Seconds between two looks whether a child may be answered."""

_FAULT_RULE = Rule("emulator/scripted-fault", note="the scenario's fault")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, the fault that it is written with, and where it waits for a cancel."""

    rendered: Rendered | Incoming
    fault: Fault | None = None
    cut: Cut | None = None


async def answer_exchange(run: ServerRun, exchange: Exchange) -> Answer:
    """Read the request of the exchange, judge it, and answer as the armed turn says. Fills in the exchange."""
    parsed = run.dialect.parse(exchange.request, run.world)
    of_body = unread_coding(exchange.request)
    if isinstance(parsed, Refusal):
        exchange.findings = [parsed, *of_body]
        return Answer(run.dialect.render_refusal(parsed, run.seed))
    exchange.call, exchange.operation = parsed, parsed.operation
    turn = due(parsed, run.turn)
    exchange.round = rounds_since_user(parsed, turn)
    exchange.child = _child_of(run, turn)
    exchange.findings = [*run.dialect.validate(exchange.request, parsed, run.world), *of_body]
    enforced = (finding for finding in exchange.findings if finding.enforced)
    refusal = next(enforced, None) if run.judges else None
    is_scripted = parsed.operation == "generate" and refusal is None
    fault = run.take_fault(exchange.round, turn) if is_scripted else None
    if refusal is None:
        fault = fault or run.take_background_fault(exchange)
    cut = run.take_cut(exchange.round, child=exchange.child is not None) if is_scripted else None
    await _until_due(run, exchange)
    answer = await _answered(run, exchange, parsed, refusal, fault)
    if isinstance(answer, Incoming):
        if fault is None and run.filter is None:
            return Answer(answer, cut=cut)
        answer = await _whole(answer)  # what is made of it depends on all of it
    exchange.stored = run.dialect.stored_ids(run.world)
    exchange.answered, exchange.events = answer.status, answer.events
    return Answer(answer, fault, cut)


def _child_of(run: ServerRun, turn: Turn | None) -> int | None:
    """The number of the child whose turn it is, where that goes on beside others."""
    children = run.turn.beside_parent if run.turn is not None and not run.probe else ()
    return next((number for number, one in enumerate(children) if one is turn), None)


async def _until_due(run: ServerRun, exchange: Exchange) -> None:
    """Tell that a child has asked, and wait until it may be answered, or so long that nobody else goes on meanwhile."""
    call = run.children.get(exchange.child) if exchange.child is not None else None
    if call is None:
        return
    call.requested.set()
    until = time.monotonic() + CHILD_LIMIT
    while not call.answered.is_set():
        if time.monotonic() > until:
            exchange.released = "limit"
            return
        await asyncio.sleep(_LOOK)


async def _whole(answer: Incoming) -> Rendered:
    try:
        return await answer.whole()
    finally:
        await answer.close()


async def _answered(
    run: ServerRun, exchange: Exchange, call: Call, refusal: Refusal | None, fault: Fault | None
) -> Rendered | Incoming:
    if refusal is not None:
        return run.dialect.render_refusal(refusal, run.seed)
    if fault is None or fault.kind != "status":
        return await run.responder.answer(run, exchange, call)
    kind, message = run.dialect.error_kind(fault.status)
    exchange.fault = f"status-{fault.status}"
    scripted = Refusal(
        _FAULT_RULE, fault.status, fault.error_kind or kind, message if fault.message is None else fault.message
    )
    if fault.retry_after is not None and fault.retry_after_as == "date":
        return _with_retry_date(run.dialect.render_refusal(scripted, run.seed), fault.retry_after)
    return run.dialect.render_refusal(replace(scripted, retry_after=fault.retry_after), run.seed)


def _with_retry_date(refused: Rendered, wait: float) -> Rendered:
    """The refusal with a date for the next attempt, and the one from which it counts."""
    now = math.floor(time.time())
    dates = {"date": formatdate(now, usegmt=True), "retry-after": formatdate(now + wait, usegmt=True)}
    return replace(refused, headers={**refused.headers, **dates})
