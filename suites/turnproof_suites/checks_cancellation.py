"""Cancellation: it takes effect at once, keeps what had arrived, and leaves a conversation that goes on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from turnproof.messages import JSON, FinishReason
from turnproof.requirements import Findings, check
from turnproof.transcript import Cancelled, WireRequest
from turnproof.verdict import violated
from turnproof.view import Exchange, ProviderCall, TurnView, View
from turnproof.view.diff import show

from .reading import (
    Requested,
    by_place,
    calls_in,
    calls_made,
    first_requests,
    heard,
    makes_room,
    model_texts,
    results_in,
    spoken_text,
)
from .steps import bare

_LATE_EVENTS = 8
"""Events the server may still get rid of after a cancel: what lies in buffers between the two sockets."""

_KEPT = ("event", "batch", "tool", "between-tools")
"""Cuts after the request was written: the user's message stays in the history."""


def _cuts(view: View) -> Iterator[tuple[ProviderCall, Exchange]]:
    """Streamed calls that were cancelled while the server held the unfinished stream."""
    for call in view.calls:
        last = call.last
        if call.began.streamed and last is not None and last.held and not _had_ended(last):
            yield call, last


def _had_ended(exchange: Exchange) -> bool:
    """Whether the end marker was written before the cancel. What came after it is the client's doing: it stayed."""
    response = exchange.response
    before = response.written - response.events_after_cancel if response is not None else 0
    return any(event.kind == "end" for event in exchange.events[:before])


@check(
    "cancellation/returns-a-cancelled-response",
    aspect=lambda view: by_place(view, ((call, _outcome(call)) for call, _ in _cuts(view))),
)
def returns_a_cancelled_response(view: View) -> Findings:
    """A response that says so, not an exception, and not an answer that looks whole."""
    for call, _ in _cuts(view):
        if call.failed is not None:
            yield violated(
                f"{call.where}: cancelled in mid stream it raised {call.failed.error}: {call.failed.message}"
            )
        elif call.response is not None and call.response.finish_reason is not FinishReason.CANCELLED:
            yield violated(f"{call.where}: cancelled in mid stream it ended with {str(call.response.finish_reason)!r}")
        elif call.response is not None:
            yield "cancelled responses"


def _outcome(call: ProviderCall) -> JSON:
    if call.response is None:
        return {"raised": call.failed.error if call.failed is not None else None}
    return {"text": call.response.text, "calls": len(call.response.calls), "finish": str(call.response.finish_reason)}


@check("cancellation/partial-text-is-kept")
def partial_text_is_kept(view: View) -> Findings:
    """The response has the text that was shown, and nothing that the wire did not carry."""
    for call, exchange in _cuts(view):
        if call.response is None:
            continue
        shown, text = "".join(call.chunks), call.response.text
        arrived = exchange.text
        if text != shown:
            yield violated(f"{call.where}: on_chunk got {show(shown)} before the cancel, the response has {show(text)}")
        elif text.strip() not in arrived:
            yield violated(
                f"{call.where}: the wire carried {show(arrived)} before the cancel, the response has {show(text)}"
            )
        elif text:
            yield "partial texts"


@check("cancellation/no-calls-are-left-behind")
def no_calls_are_left_behind(view: View) -> Findings:
    """A cancelled response has no call, complete or not: nobody would answer it."""
    for call, _ in _cuts(view):
        if call.response is None:
            continue
        if call.response.calls:
            left = call.response.calls[0]
            yield violated(f"{call.where}: the cancelled response has a call of {left.name!r} with {show(left.args)}")
        else:
            yield "cancelled responses"


@check("cancellation/half-calls-are-not-announced")
def half_calls_are_not_announced(view: View) -> Findings:
    """A call that the cancel cut in two was never complete, so nobody hears of it."""
    for call, exchange in _cuts(view):
        answer = exchange.answer
        if answer is None or not answer.broken_calls:
            continue
        whole = {made.id for made in calls_in(answer.parts)}
        half = [made for made in call.function_calls if made.id not in whole]
        if half:
            yield violated(f"{call.where}: a call cut in its arguments was announced as {show(half[0].args)}")
        else:
            yield "calls cut in their arguments"


@check("cancellation/usage-is-kept")
def usage_is_kept(view: View) -> Findings:
    """The last good figures; the prompt was paid for."""
    for call, exchange in _cuts(view):
        if call.response is None:
            continue
        usage = call.response.usage
        if call.usages:
            last = call.usages[-1]
            if usage.prompt_tokens < last.prompt_tokens or usage.output_tokens < last.output_tokens:
                yield violated(f"{call.where}: the last update said {last}, the cancelled response says {usage}")
            else:
                yield "usage against the last update"
        elif call.chunks and exchange.answer is not None and exchange.answer.usage is not None:
            # The figures come before the first text, so whoever passed text on has seen them.
            if exchange.answer.usage.prompt_tokens and not usage.prompt_tokens:
                yield violated(
                    f"{call.where}: the wire said {exchange.answer.usage}, the cancelled response says {usage}"
                )
            else:
                yield "usage against the wire"


@check("cancellation/connection-is-closed")
def connection_is_closed(view: View) -> Findings:
    """The server sees its client go; otherwise it goes on generating, and somebody pays."""
    for call, exchange in _cuts(view):
        assert exchange.response is not None
        released, ended = exchange.response.released, exchange.response.ended
        if released == "limit":
            continue  # the call had not even returned: that is about promptness
        if released == "peer-closed" or ended == "cut-by-peer":
            yield "connections after a cancel"
        else:
            yield violated(f"{call.where}: after the cancel the call returned and left the connection open ({ended})")


@check("cancellation/silence-is-no-obstacle")
def silence_is_no_obstacle(view: View) -> Findings:
    """The server keeps silent from the cancel on; whoever waits for its next word waits in vain."""
    for call, exchange in _cuts(view):
        assert exchange.response is not None
        if exchange.response.released == "limit":
            yield violated(
                f"{call.where}: while the stream was silent the cancel took no effect until the server gave up"
            )
        else:
            yield "cancels in silence"


@check("cancellation/server-is-not-drained")
def server_is_not_drained(view: View) -> Findings:
    """Reading the rest of the answer to its end is not stopping."""
    for call, exchange in _cuts(view):
        assert exchange.response is not None
        late = exchange.response.events_after_cancel
        if late > _LATE_EVENTS:
            yield violated(f"{call.where}: the server wrote {late} more events after the cancel")
        else:
            yield "events after a cancel"


@check("cancellation/before-the-start-sends-nothing")
def before_the_start_sends_nothing(view: View) -> Findings:
    """A turn cancelled before it began costs nothing."""
    for turn in view.turns:
        if turn.cut is None or turn.cut.at != "before-start" or not turn.cancelled:
            continue
        sent = [exchange for call in turn.calls for exchange in call.exchanges]
        if sent:
            yield violated(f"{turn.where}: cancelled before its start, it sent {len(sent)} requests")
        elif turn.ended is not None:
            yield "turns cancelled before their start"


@check("cancellation/back-off-can-be-cancelled")
def back_off_can_be_cancelled(view: View) -> Findings:
    """Nothing more is sent once the token is set."""
    for turn in view.turns:
        if turn.cut is None or turn.cut.at != "backoff" or not turn.cancelled:
            continue
        at = next(n for n, event in enumerate(turn.events) if isinstance(event, Cancelled))
        if any(isinstance(event, WireRequest) for event in turn.events[at:]):
            yield violated(f"{turn.where}: cancelled while waiting for its next attempt, it sent another request")
        else:
            yield "turns cancelled during back-off"


@check("cancellation/batch-calls-can-be-cancelled")
def batch_calls_can_be_cancelled(view: View) -> Findings:
    """Before the first byte of the answer there is no stream to close, only a socket."""
    for call in view.calls:
        last = call.last
        if call.began.streamed or last is None or not last.held or last.response is None:
            continue
        if last.response.released != "peer-closed":
            yield violated(
                f"{call.where}: cancelled while it waited for its answer, the call held on ({last.response.released})"
            )
        elif call.response is None or call.response.finish_reason is not FinishReason.CANCELLED:
            how = f"raised {call.failed.error}" if call.failed is not None else "did not say so"
            yield violated(f"{call.where}: cancelled while it waited for its answer, the call {how}")
        else:
            yield "cancelled batch calls"


def _following(view: View, *cuts: str) -> Iterator[tuple[TurnView, Requested]]:
    """Each turn cancelled at one of these points, with the first request of the turn after it."""
    for (before, _), (after, request) in pairwise(_requesting(view)):
        cut = before.cut.at if before.cut is not None and before.cancelled else None
        goes_on = after.loaded is None and not after.rewritten
        if cut in cuts and goes_on and request is not None and not makes_room(request.call):
            yield before, request


def _requesting(view: View) -> list[tuple[TurnView, Requested | None]]:
    requests = {turn.index: request for turn, request in first_requests(view)}
    return [(turn, requests.get(turn.index)) for turn in view.turns if turn.spoken]


@check("cancellation/history-serves-the-next-turn")
def history_serves_the_next_turn(view: View) -> Findings:
    """The next request is accepted, and knows what the user had said in the cancelled turn."""
    for turn, request in _following(view, *_KEPT):
        if request.exchange.refusals:
            first = request.exchange.refusals[0]
            yield violated(
                f"{request.where}: the API refuses the request after the cancelled {turn.where}: {first['message']}",
                rests_on=request.call.rests_on,
            )
        elif not heard(turn, request.sent.messages):
            yield violated(
                f"{request.where}: what the user said in the cancelled {turn.where} is gone: {show(turn.said)}"
            )
        else:
            yield "requests after a cancelled turn"


@check("cancellation/partial-text-reaches-the-next-turn")
def partial_text_reaches_the_next_turn(view: View) -> Findings:
    """The model sees what the user saw."""
    for turn, request in _following(view, "event"):
        last = turn.calls[-1].response if turn.calls else None
        partial = spoken_text(last.parts) if last is not None and last.finish_reason is FinishReason.CANCELLED else ""
        if not partial:
            continue
        # Trailing blanks may be trimmed: some models refuse them.
        if any(partial.strip() in text for text in model_texts(request.sent.messages)):
            yield "partial texts in the next request"
        else:
            yield violated(
                f"{request.where}: the partial answer of {turn.where} is not in the request: {show(partial)}"
            )


@check("cancellation/nothing-is-invented")
def nothing_is_invented(view: View) -> Findings:
    """No text goes out as the model's that the model did not write: it would learn to write it."""
    for _, request in _following(view, *_KEPT, "before-start", "backoff"):
        # As one text: an answer that was paused and gone on with is one on the wire, and blank pieces may be left out.
        here = (exchange.text for call in view.calls for exchange in call.generated)
        written = bare([*model_texts(view.scenario.given), *here])
        invented = [text for text in model_texts(request.sent.messages) if bare([text]) not in written]
        if invented:
            yield violated(
                f"{request.where}: the request has words of the model that it never wrote: {show(invented[0])}"
            )
        else:
            yield "words of the model after a cancel"


@check("cancellation/running-tools-are-answered")
def running_tools_are_answered(view: View) -> Findings:
    """Cancelled while tools ran: every call in the next request still has its result."""
    for turn, request in _following(view, "tool", "between-tools"):
        made = {call.id for call in calls_made(request.held)}
        found = {result.call_id for result in results_in(request.sent.messages)}
        sent = [call for call in calls_made(request.sent.messages) if call.id in made]
        open_ones = [call for call in sent if call.id not in found]
        if open_ones:
            yield violated(f"{request.where}: the call {open_ones[0].id!r} of the cancelled {turn.where} has no result")
        elif sent:
            yield "calls of a turn cancelled in its tools"
