"""Cancellation: it takes effect at once, keeps what had arrived, and leaves a conversation that goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from msgspec import UNSET

from turnproof.dialects.call_pairing import pair_calls
from turnproof.judge.finding import Compared, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import Exchange, ProviderCall, TurnView, View
from turnproof.messages import JSON, FinishReason, FunctionCall, ProviderResponse
from turnproof.run.transcript import Cancelled, Chunk, FunctionCallDetected

from .content import calls_in, thoughts_in
from .reading import at_response_text, by_place, usage_updates
from .words import without_blanks

_LATE_EVENTS = 8
"""Events the server may still get rid of after a cancel: what lies in buffers between the two sockets."""


def _cuts(view: View) -> Iterator[tuple[ProviderCall, Exchange]]:
    """Streamed calls that were cancelled while the server held the unfinished stream."""
    for call in view.calls:
        last = call.last
        if call.began.streamed and last is not None and last.held and not last.ended_before_cancel:
            yield call, last


def _cut_responses(view: View) -> Iterator[tuple[ProviderCall, ProviderResponse, Exchange]]:
    """Those of them that returned, with what they returned."""
    return ((call, call.response, exchange) for call, exchange in _cuts(view) if call.response is not None)


_RAISED = finding(
    "cancellation/returns-a-cancelled-response/raised",
    "A stream that was cancelled raised an error.",
    "a response that ended with {expected}",
    "{observed:words}: {message}",
)
_WRONG_FINISH = finding(
    "cancellation/returns-a-cancelled-response/wrong-finish",
    "A cancelled stream returned a response without `finish_reason=cancelled`.",
    "a response that ended with {expected}",
    "one that ended with {observed}",
)


@check(
    "cancellation/returns-a-cancelled-response",
    aspect=lambda view: by_place(view, ((call, _outcome(call)) for call, _ in _cuts(view))),
)
def returns_a_cancelled_response(view: View) -> Findings:
    """A response that says so, not an exception, and not an answer that looks whole."""
    for call, _ in _cuts(view):
        if call.failed is not None or call.response is not None:
            yield from _cancelled_response(call, "cancelled responses", raised=_RAISED, wrong_finish=_WRONG_FINISH)


def _cancelled_response(call: ProviderCall, what: str, *, raised: FindingCode, wrong_finish: FindingCode) -> Findings:
    """What a call that has ended made of a cancel."""
    expected = FinishReason.CANCELLED
    if call.failed is not None:
        place = call.at(Side.ERROR, "error")
        yield raised.of_error(place, call.failed, expected=expected)
    elif call.response is not None and call.response.finish_reason is not expected:
        place = call.at(Side.RESPONSE, "finish_reason")
        yield wrong_finish(place, expected=expected, observed=call.response.finish_reason)
    else:
        yield Compared(what)


def _outcome(call: ProviderCall) -> JSON:
    if call.response is None:
        return {"raised": call.failed.error if call.failed is not None else None}
    return {"text": call.response.text, "calls": len(call.response.calls), "finish": str(call.response.finish_reason)}


_NOT_AS_SHOWN = finding(
    "cancellation/partial-text-is-kept/not-as-shown",
    "The cancelled response has another text than the user was shown.",
    "the text {expected}",
)
_NOT_ON_THE_WIRE = finding(
    "cancellation/partial-text-is-kept/not-on-the-wire",
    "The cancelled response has text that the wire did not carry before the cancel.",
    "text from {expected}",
)


@check("cancellation/partial-text-is-kept")
def partial_text_is_kept(view: View) -> Findings:
    """The response has the text that was shown, and nothing that the wire did not carry."""
    for call, response, exchange in _cut_responses(view):
        shown, text = "".join(call.chunks), response.text
        arrived = exchange.text
        place = at_response_text(call, response)
        if text != shown:
            yield _NOT_AS_SHOWN(place, expected=shown, observed=text, related=(call.at(Side.CALLBACK),))
        if text.strip() not in arrived:
            yield _NOT_ON_THE_WIRE(place, expected=arrived, observed=text, related=(exchange.at(Side.STREAM),))
        elif text and text == shown:
            yield Compared("partial texts")


_THINKING_LOST = finding(
    "cancellation/thinking-is-kept/lost",
    "The cancelled response does not have the thinking whose signature had arrived.",
    "the thinking {expected}",
)


@check("cancellation/thinking-is-kept", needs="answer")
def thinking_is_kept(view: View) -> Findings:
    """What was cut itself may be left out: without its signature it can never be sent back."""
    for call, response, exchange in _cut_responses(view):
        if exchange.answer is None:
            continue
        signed = [thought for thought in thoughts_in(exchange.answer.parts) if thought.provider_data is not None]
        complete = "".join(thought.text for thought in signed)
        thinking = "".join(thought.text for thought in thoughts_in(response.parts))
        if not complete.strip():
            continue
        if without_blanks([complete]) in without_blanks([thinking]):
            yield Compared("thinking of cancelled responses")
        else:
            place = call.at(Side.RESPONSE, "parts")
            yield _THINKING_LOST(place, expected=complete, observed=thinking, related=(exchange.at(Side.STREAM),))


_PIECE_AFTERWARDS = finding(
    "cancellation/no-piece-after-the-cancel/passed-on",
    "A piece of text was passed on after the application had set the token.",
    "no piece behind the one in whose callback the token was set",
    "the piece {observed}",
)


@check("cancellation/no-piece-after-the-cancel")
def no_piece_after_the_cancel(view: View) -> Findings:
    """Where the application sets the token in the callback itself, while more has arrived already.

    An adapter may cut an event into pieces of its own, and finish the one that it is in.
    """
    for turn in view.turns:
        if turn.cut is None or not turn.cut.on_piece or not turn.cancelled:
            continue
        at = next(n for n, event in enumerate(turn.events) if isinstance(event, Cancelled))
        for call, exchange in _cuts(view):
            if call.began.turn != turn.index or not call.chunks or not call.knows_callbacks:
                continue
            own_chunks = [event for event in call.callbacks if isinstance(event, Chunk)]
            later = {id(event) for event in turn.events[at:]}
            before = [event for event in own_chunks if id(event) not in later]
            late = [event for event in own_chunks if id(event) in later]
            late = late[_finishing(before, late, exchange) :]
            for event in late:
                yield _PIECE_AFTERWARDS(call.at_callback(event, "text"), observed=event.text)
            if not late:
                yield Compared("pieces after a cancel")


def _finishing(before: Sequence[Chunk], late: Sequence[Chunk], exchange: Exchange) -> int:
    """How many of the late pieces belong to the event whose text was being passed on when the token was set."""
    shown = sum(len(event.text) for event in before)
    ends = accumulate(len(event.text) for event in exchange.events)
    end = next((end for end in ends if end >= shown), shown)
    totals = accumulate((len(event.text) for event in late), initial=shown)
    return sum(total <= end for total in totals) - 1


_CALL_LEFT = finding(
    "cancellation/no-calls-are-left-behind/left",
    "A cancelled response has a tool call.",
    "a response without calls",
    "a call of the tool {observed} with the arguments {args}",
)


@check("cancellation/no-calls-are-left-behind", needs="answer")
def no_calls_are_left_behind(view: View) -> Findings:
    """A cancelled response has no call, complete or not: nobody would answer it."""
    for call, response, _ in _cut_responses(view):
        for number, part in enumerate(response.parts):
            if isinstance(part, FunctionCall):
                yield _CALL_LEFT(call.at(Side.RESPONSE, "parts", number), observed=part.name, args=part.args)
        if not response.calls:
            yield Compared("cancelled responses")


_HALF_CALL = finding(
    "cancellation/half-calls-are-not-announced/announced",
    "A tool call whose arguments were cut off was announced.",
    "no call, because its arguments were cut off",
    "a call of the tool {observed} with the arguments {args}",
)


@check("cancellation/half-calls-are-not-announced", shows=("shows_calls",))
def half_calls_are_not_announced(view: View) -> Findings:
    """A call that the cancel cut in two was never complete, so nobody hears of it."""
    for call, exchange in _cuts(view):
        answer = exchange.answer
        if answer is None or not answer.broken_calls or not call.knows_callbacks:
            continue
        announced = [event for event in call.callbacks if isinstance(event, FunctionCallDetected)]
        pairs = pair_calls([event.function_call for event in announced], calls_in(answer.parts))
        complete = {id(announced_call) for announced_call, _ in pairs}
        half = [event for event in announced if id(event.function_call) not in complete]
        for event in half:
            yield _HALF_CALL(
                call.at_callback(event, "function_call"),
                observed=event.function_call.name,
                related=(exchange.at(Side.STREAM),),
                args=event.function_call.args,
            )
        if not half:
            yield Compared("calls cut in their arguments")


_BELOW_LAST_UPDATE = finding(
    "cancellation/usage-is-kept/lower",
    "A figure of the cancelled response is lower than in the last usage update.",
    "at least {expected} as `{field:words}`",
)
_PROMPT_LOST = finding(
    "cancellation/usage-is-kept/prompt-missing",
    "The cancelled response has no prompt tokens, the wire had some.",
    "{expected} prompt tokens",
)


@check("cancellation/usage-is-kept", needs="answer")
def usage_is_kept(view: View) -> Findings:
    """The last good figures; the prompt was paid for."""
    for call, response, exchange in _cut_responses(view):
        usage, updates = response.usage, usage_updates(call)
        last = updates[-1] if updates else None
        if last is not None and any(getattr(last.usage, name) for name in _PAID_FOR):
            both = {name: (getattr(last.usage, name), getattr(usage, name)) for name in _PAID_FOR}
            fallen = [name for name, (before, after) in both.items() if after < before]
            for name in fallen:
                yield _BELOW_LAST_UPDATE(
                    call.at(Side.RESPONSE, "usage", name),
                    expected=both[name][0],
                    observed=both[name][1],
                    related=(call.at_callback(last, "usage", name),),
                    field=name,
                )
            if not fallen:
                yield Compared("usage against the last update")
        elif call.chunks and exchange.answer is not None and exchange.answer.usage is not None:
            # The figures come before the first text, so whoever passed text on has seen them.
            prompt = exchange.answer.usage.prompt_tokens
            if prompt and not usage.prompt_tokens:
                place = call.at(Side.RESPONSE, "usage", "prompt_tokens")
                yield _PROMPT_LOST(place, expected=prompt, observed=0, related=(exchange.at(Side.STREAM),))
            else:
                yield Compared("usage against the wire")


_PAID_FOR = ("prompt_tokens", "output_tokens")

_LEFT_OPEN = finding(
    "cancellation/connection-is-closed/left-open",
    "A cancelled call returned and left its connection open.",
    "a connection that the client closed",
    "an open connection, with an exchange that ended as {observed}",
)


@check("cancellation/connection-is-closed")
def connection_is_closed(view: View) -> Findings:
    """The server sees its client go; otherwise it goes on generating, and somebody pays."""
    for call, exchange in _cuts(view):
        assert exchange.response is not None
        released, ended = exchange.response.released, exchange.response.ended
        if released == "limit":
            continue  # the call had not even returned: that is about promptness
        if released == "peer-closed" or ended == "cut-by-peer":
            yield Compared("connections after a cancel")
        else:
            yield _LEFT_OPEN(call.at_answer(), expected="cut-by-peer", observed=ended)


_NOT_AT_ONCE = finding(
    "cancellation/silence-is-no-obstacle/waited",
    "A cancel had no effect while the stream was silent.",
    "an effect at once",
    "none until the server gave up",
)


@check("cancellation/silence-is-no-obstacle")
def silence_is_no_obstacle(view: View) -> Findings:
    """The server keeps silent from the cancel on; whoever waits for its next word waits in vain."""
    for call, exchange in _cuts(view):
        assert exchange.response is not None
        if exchange.response.released == "limit":
            yield _NOT_AT_ONCE(call.at_answer(), expected="peer-closed", observed=exchange.response.released)
        else:
            yield Compared("cancels in silence")


_DRAINED = finding(
    "cancellation/server-is-not-drained/read-on",
    "The server wrote on after a cancel, because its client went on reading.",
    "at most {expected} more events",
)


@check("cancellation/server-is-not-drained")
def server_is_not_drained(view: View) -> Findings:
    """Reading the rest of the answer to its end is not stopping."""
    for _, exchange in _cuts(view):
        assert exchange.response is not None
        late = exchange.response.events_after_cancel
        if late > _LATE_EVENTS:
            first = exchange.response.written - late
            place = exchange.at_event(first) if 0 <= first < len(exchange.events) else exchange.at(Side.STREAM)
            yield _DRAINED(place, expected=_LATE_EVENTS, observed=late)
        else:
            yield Compared("events after a cancel")


_SENT_BEFORE_START = finding(
    "cancellation/before-the-start-sends-nothing/sent",
    "A turn that was cancelled before its start sent a request.",
    "no request",
    "a request to {observed}",
)
_WENT_ON = finding(
    "cancellation/before-the-start-sends-nothing/went-on",
    "A call whose token was set before it began did not end as cancelled.",
    "`Cancelled`, or a response that ended with {expected}",
)


@check("cancellation/before-the-start-sends-nothing")
def before_the_start_sends_nothing(view: View) -> Findings:
    """A turn cancelled before it began costs nothing.

    A session may look at the token itself: of the adapter only the calls say something that reached it. Of a session
    that shows none, it is the session that is judged.
    """
    for turn in view.turns:
        if turn.cut is None or turn.cut.at != "before-start" or not turn.cancelled:
            continue
        sent = [exchange for call in turn.calls for exchange in call.exchanges]
        for exchange in sent:
            yield _SENT_BEFORE_START(exchange.at(), observed=exchange.request.path, related=(_at_cancel(turn),))
        if not sent and turn.ended is not None and (turn.calls or not view.shows_calls):
            yield Compared("turns cancelled before their start")
    yield from _cancelled_before(view, streamed=True, sent=_SENT_BEFORE_START, went_on=_WENT_ON)


def _cancelled_before(view: View, *, streamed: bool, sent: FindingCode, went_on: FindingCode) -> Findings:
    """The calls that were made at the adapter itself, with a token that was set already."""
    for call in view.probes.get("cancelled", ()):
        if call.began.streamed is not streamed:
            continue
        for exchange in call.exchanges:
            yield sent(exchange.at(), observed=exchange.request.path)
        if call.exchanges:
            continue
        if call.failed is not None and "Cancelled" in (call.failed.error, *call.failed.bases):
            yield Compared("calls with a token that was set")
        elif call.failed is not None:
            observed = f"{call.failed.error}: {call.failed.message}"
            yield went_on(call.at(Side.ERROR, "error"), expected=FinishReason.CANCELLED, observed=observed)
        elif call.response is not None and call.response.finish_reason is FinishReason.CANCELLED:
            yield Compared("calls with a token that was set")
        elif call.response is not None:
            place = call.at(Side.RESPONSE, "finish_reason")
            yield went_on(place, expected=FinishReason.CANCELLED, observed=call.response.finish_reason)


def _at_cancel(turn: TurnView) -> Place:
    return turn.at_event(next(event for event in turn.events if isinstance(event, Cancelled)))


_SENT_IN_BACKOFF = finding(
    "cancellation/back-off-can-be-cancelled/sent",
    "A turn that was cancelled before its next attempt sent another request.",
    "no further request",
    "a request to {observed}",
)


@check("cancellation/back-off-can-be-cancelled")
def back_off_can_be_cancelled(view: View) -> Findings:
    """Nothing more is sent once the token is set."""
    for turn in view.turns:
        if turn.cut is None or turn.cut.at != "backoff" or not turn.cancelled:
            continue
        at = next(n for n, event in enumerate(turn.events) if isinstance(event, Cancelled))
        sent = view.exchanges_in(turn.events[at:])
        for exchange in sent:
            yield _SENT_IN_BACKOFF(exchange.at(), observed=exchange.request.path, related=(_at_cancel(turn),))
        if not sent:
            yield Compared("turns cancelled during back-off")


_BATCH_WAITED = finding(
    "cancellation/batch-calls-can-be-cancelled/waited",
    "A call that was cancelled while it waited for its answer went on waiting.",
    "a connection that the client closed",
    "an open connection until {observed}",
)
_BATCH_RAISED = finding(
    "cancellation/batch-calls-can-be-cancelled/raised",
    "A call that was cancelled while it waited for its answer raised an error.",
    "a response that ended with {expected}",
    "{observed:words}: {message}",
)
_BATCH_WRONG_FINISH = finding(
    "cancellation/batch-calls-can-be-cancelled/wrong-finish",
    "A call that was cancelled before its answer returned a response without `finish_reason=cancelled`.",
    "a response that ended with {expected}",
    "one that ended with {observed}",
)
_BATCH_WITHOUT_RESPONSE = finding(
    "cancellation/batch-calls-can-be-cancelled/no-response",
    "A call that was cancelled while it waited for its answer did not return.",
    "a response that ended with {expected}",
)


_BATCH_SENT = finding(
    "cancellation/batch-calls-can-be-cancelled/sent",
    "A call that does not stream sent a request, though its token was set before it began.",
    "no request",
    "a request to {observed}",
)
_BATCH_WENT_ON = finding(
    "cancellation/batch-calls-can-be-cancelled/went-on",
    "A call that does not stream did not end as cancelled, though its token was set before it began.",
    "`Cancelled`, or a response that ended with {expected}",
)


@check("cancellation/batch-calls-can-be-cancelled")
def batch_calls_can_be_cancelled(view: View) -> Findings:
    """Before the first byte of the answer there is no stream to close, only a socket; before the request nothing."""
    yield from _cancelled_before(view, streamed=False, sent=_BATCH_SENT, went_on=_BATCH_WENT_ON)
    for call in view.calls:
        last = call.last
        if call.began.streamed or last is None or not last.held or last.response is None:
            continue
        if last.response.released != "peer-closed":
            released = UNSET if last.response.released is None else last.response.released
            yield _BATCH_WAITED(call.at_answer(), expected="peer-closed", observed=released)
        elif call.response is None and call.failed is None:
            yield _BATCH_WITHOUT_RESPONSE(call.at_request(), expected=FinishReason.CANCELLED)
        else:
            yield from _cancelled_response(
                call, "cancelled batch calls", raised=_BATCH_RAISED, wrong_finish=_BATCH_WRONG_FINISH
            )
