"""Answers in the background: what becomes of one whose caller is gone, and of one whose call is cancelled."""

from __future__ import annotations

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, ProviderCall, View
from turnproof.messages import FinishReason

from .content import spoken_text

_UNNAMED = finding(
    "stored/a-running-answer-is-taken-up/unnamed",
    "Something of an answer in the background was received before the caller learned its id.",
    "a call of `on_began` before the answer",
    "none",
)
_LATE = finding(
    "stored/a-running-answer-is-taken-up/late",
    "The caller learned the id of an answer in the background only when the adapter had asked whether it is there.",
    "a call of `on_began` before the first such question",
    "one after it",
)
_ASKED_AGAIN = finding(
    "stored/a-running-answer-is-taken-up/asked-again",
    "A call takes up an answer in the background, and the adapter requested another one.",
    "no request for an answer",
    "one",
)
_NOT_RECEIVED = finding(
    "stored/a-running-answer-is-taken-up/lost",
    "A call takes up an answer in the background, and brought none.",
    "the text of the answer",
    "{observed}",
)


@check("stored/a-running-answer-is-taken-up", needs="calls")
def a_running_answer_is_taken_up(view: View) -> Findings:
    """Of an object that asks and is left, and of another one that takes the answer up."""
    calls = _calls(view)
    if not calls:
        return
    asking, taking = calls[0], calls[1] if len(calls) > 1 else None
    if asking.response is not None or (taking is None and _was_left(asking)):
        yield _UNNAMED(asking.at(Side.RESPONSE if asking.failed is None else Side.ERROR))
        return
    for exchange in _about_answers(asking)[:1]:
        yield _LATE(exchange.at(Side.STREAM))
    taking = taking or asking
    for exchange in taking.generated if taking is not asking else ():
        yield _ASKED_AGAIN(exchange.at())
    response = taking.response
    if response is None or not response.text.strip():
        how = taking.failed.error if taking.failed is not None else "a response without text"
        side = Side.RESPONSE if taking.failed is None else Side.ERROR
        yield _NOT_RECEIVED(taking.at(side), observed=how)
    elif not taking.generated and not _about_answers(asking):
        yield Compared("answers taken up")


_SHOWN_OTHERWISE = finding(
    "stored/a-broken-stream-is-received-whole/changed",
    "The stream of an answer in the background broke, and `on_chunk` got another text than that of the answer.",
    "the text {expected} in all chunks together",
    "{observed}",
)
_NOT_WHOLE = finding(
    "stored/a-broken-stream-is-received-whole/returned",
    "The stream of an answer in the background broke, and the call returned another text than that of the answer.",
    "the text {expected}",
    "{observed}",
)
_NEVER_RECEIVED = finding(
    "stored/a-broken-stream-is-received-whole/lost",
    "The stream of an answer in the background broke, and no call brought the answer.",
    "a response, from this call or from one that takes the answer up",
    "{observed}",
)
_PAID_AGAIN = finding(
    "stored/a-broken-stream-is-received-whole/asked-again",
    "The stream of an answer in the background broke, and the adapter requested another answer.",
    "one request for an answer",
    "{observed}",
)


@check("stored/a-broken-stream-is-received-whole", needs="calls")
def a_broken_stream_is_received_whole(view: View) -> Findings:
    """Of a call whose stream breaks, and of those that take its answer up if it raises."""
    calls = view.probes.get("broken-stream", ())
    requests = [exchange for call in calls for exchange in call.generated]
    if not requests or requests[0].fault is None:
        return
    if len(requests) > 1:
        yield _PAID_AGAIN(requests[1].at(), observed=len(requests))
    last, text = calls[-1], _first_answer(view)
    if last.response is None:
        yield _NEVER_RECEIVED(last.at(Side.ERROR), observed=last.failed.error if last.failed else "no end of the call")
        return
    shown = "".join(last.chunks)
    if shown != text:
        yield _SHOWN_OTHERWISE(last.at(Side.CALLBACK), expected=text, observed=shown)
    if last.response.text != text:
        yield _NOT_WHOLE(last.at(Side.RESPONSE, "parts"), expected=text, observed=last.response.text)
    if shown == last.response.text == text and len(requests) == 1:
        yield Compared("broken streams")


def _first_answer(view: View) -> str:
    """The text that the scenario has for the first message, which is what the probe asks."""
    return spoken_text(reply.part for reply in view.scenario.turns[0].rounds[0].parts)


_STILL_RUNNING = finding(
    "stored/a-cancelled-answer-is-cancelled-at-the-service/running",
    "A call in the background was cancelled, and no request has the service cancel its answer.",
    "a request that cancels the answer",
    "none that was accepted",
)


@check("stored/a-cancelled-answer-is-cancelled-at-the-service", needs="calls")
def a_cancelled_answer_is_cancelled_at_the_service(view: View) -> Findings:
    """Of a call whose token is set as soon as the service has named its answer."""
    calls = _calls(view)
    if calls and _about_answers(calls[0]):
        return  # where an answer is named when it is there, no cancel comes before its end
    for call in calls[2:]:
        if not call.generated or call.response is None or call.response.finish_reason is not FinishReason.CANCELLED:
            continue  # it was not cancelled: that is another requirement's affair
        if any(exchange.call is not None and _cancels(exchange) for exchange in call.exchanges):
            yield Compared("cancelled answers")
        else:
            yield _STILL_RUNNING(call.generated[-1].at())


def _calls(view: View) -> tuple[ProviderCall, ...]:
    """The calls of the probe: one that is left, one that takes its answer up, one that is cancelled."""
    return view.probes.get("background", ())


def _about_answers(call: ProviderCall) -> tuple[Exchange, ...]:
    """The questions whether an answer is there. What comes ahead of the request for one, such as the creation of a
    conversation that it names, is none."""
    first = next((n for n, exchange in enumerate(call.exchanges) if exchange.generates), 0)
    later = call.exchanges[first:]
    return tuple(one for one in later if one.request.operation == "stored" and one.request.method == "GET")


def _was_left(call: ProviderCall) -> bool:
    """Whether the probe has ended a call, and not its failure."""
    return call.failed is not None and call.failed.error == "ProcessEnded"


def _cancels(exchange: Exchange) -> bool:
    is_accepted = exchange.response is not None and exchange.response.status == 200
    return is_accepted and exchange.request.path.endswith(("/cancel", ":cancel"))
