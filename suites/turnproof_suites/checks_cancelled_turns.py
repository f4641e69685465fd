"""The turn after a cancelled one: the conversation goes on with what was said and shown, and with nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from turnproof.dialects.text_calls import with_native_calls
from turnproof.judge.finding import Compared
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import TurnView, View
from turnproof.messages import FinishReason, Text
from turnproof.run.transcript import TurnBegan

from .content import calls_made, model_texts, results_in, spoken_text
from .context_room import makes_room, outgrew_window
from .reading import ReadRequest, at_response_text, first_requests, refusal_finding
from .words import user_words, without_blanks

_TEXT_STAYS = ("event", "batch", "tool", "between-tools")
"""Cuts after the request was written: the user's message stays in the history."""

_FORGOTTEN = ("before-start", "backoff")
"""Cuts before anything was said: nothing of the turn stays."""


def _next_requests(view: View, *cuts: str) -> Iterator[tuple[TurnView, ReadRequest]]:
    """Each turn cancelled at one of these points, with the first request of the turn after it."""
    for (before, _), (after, request) in pairwise(_first_requests(view)):
        cut = before.cut.at if before.cut is not None and before.cancelled else None
        goes_on = after.loaded is None and not after.rewritten
        if cut not in cuts or not goes_on or request is None or makes_room(request.call):
            continue
        earlier = before.history or (before.calls[-1].began.messages if before.calls else ())
        if not outgrew_window(view, earlier, request.call):
            yield before, request


def _first_requests(view: View) -> list[tuple[TurnView, ReadRequest | None]]:
    requests = {turn.index: request for turn, request in first_requests(view)}
    return [(turn, requests.get(turn.index)) for turn in view.turns if turn.has_user_message]


_REFUSED = finding(
    "cancellation/history-serves-the-next-turn/refused",
    "The API refuses the request after a cancelled turn.",
    "a request that the API accepts",
    "a refusal: {message:words}",
)
_USER_TEXT_LOST = finding(
    "cancellation/history-serves-the-next-turn/user-text-missing",
    "The request after a cancelled turn lacks the user's message of that turn.",
    "the user's text {expected}",
    "a request without it",
)


@check("cancellation/history-serves-the-next-turn")
def history_serves_the_next_turn(view: View) -> Findings:
    """The next request is accepted; where the cancelled turn had begun, it knows what the user had said in it."""
    for turn, request in _next_requests(view, *_TEXT_STAYS, *_FORGOTTEN):
        for refusal in request.exchange.refusals:
            yield refusal_finding(_REFUSED, request.exchange, refusal, message=refusal["message"])
        if request.exchange.refusals or (turn.ended is not None and turn.ended.outcome == "error"):
            continue  # a turn that failed leaves nothing: that it failed is for `returns-a-cancelled-response`
        keeps_text = turn.cut is not None and turn.cut.at in _TEXT_STAYS
        lost_texts = _missing_user_texts(turn, request) if keeps_text else []
        for text in lost_texts:
            began = (event for event in turn.events if isinstance(event, TurnBegan))
            yield _USER_TEXT_LOST(
                request.at("messages"), expected=text, related=[turn.at_event(event) for event in began]
            )
        if not lost_texts:
            yield Compared("requests after a cancelled turn")


def _missing_user_texts(turn: TurnView, request: ReadRequest) -> list[str]:
    """The texts that the user said in a turn and that no user says in a request."""
    sent = user_words(request.wire.messages)
    parts = turn.script.user if turn.script is not None else ()
    texts = [part.text for part in parts if isinstance(part, Text) and part.text.strip()]
    return [text for text in texts if without_blanks([text]) not in sent]


_PARTIAL_TEXT_LOST = finding(
    "cancellation/partial-text-reaches-the-next-turn/missing",
    "The request after a cancelled turn lacks the partial answer.",
    "the model's text {expected}",
    "a request with the model's texts {observed}",
)


@check("cancellation/partial-text-reaches-the-next-turn")
def partial_text_reaches_the_next_turn(view: View) -> Findings:
    """The model sees what the user saw."""
    for turn, request in _next_requests(view, "event"):
        last = turn.calls[-1] if turn.calls else None
        response = last.response if last is not None else None
        if last is None or response is None or response.finish_reason is not FinishReason.CANCELLED:
            continue
        partial = spoken_text(response.parts)
        if not partial:
            continue
        # Trailing blanks may be trimmed: some models refuse them.
        sent = model_texts(request.wire.messages)
        if any(partial.strip() in text for text in sent):
            yield Compared("partial texts in the next request")
        else:
            yield _PARTIAL_TEXT_LOST(
                request.at("messages"), expected=partial, observed=sent, related=(at_response_text(last, response),)
            )


_INVENTED = finding(
    "cancellation/nothing-is-invented/invented",
    "The request after a cancelled turn has words of the model that it never wrote.",
    "only what the model wrote",
    "the model's text {observed}",
)


@check("cancellation/nothing-is-invented")
def nothing_is_invented(view: View) -> Findings:
    """No text goes out as the model's that the model did not write: it would learn to write it."""
    for _, request in _next_requests(view, *_TEXT_STAYS, "before-start", "backoff"):
        # As one text: an answer that was paused and gone on with is one on the wire, and blank pieces may be left out.
        here = (exchange.text for call in view.calls for exchange in call.generated)
        written = without_blanks([*model_texts(view.scenario.given), *here])
        invented = list(_invented_texts(request, written))
        for number, text in invented:
            yield _INVENTED(request.at("messages", number), observed=text)
        if not invented:
            yield Compared("words of the model after a cancel")


def _invented_texts(request: ReadRequest, written: str) -> Iterator[tuple[int, str]]:
    """The model's messages whose text is not among what was written, by their number in the request."""
    for number, message in enumerate(with_native_calls(request.session_messages, request.wire.messages)):
        for text in model_texts([message]):
            if without_blanks([text]) not in written:
                yield number, text


_UNANSWERED = finding(
    "cancellation/running-tools-are-answered/missing",
    "A tool call of a cancelled turn has no result in the next request.",
    "a result for the call {call} of the tool {tool}",
    "results for {observed}",
)


@check("cancellation/running-tools-are-answered")
def running_tools_are_answered(view: View) -> Findings:
    """Cancelled while tools ran: every call in the next request still has its result."""
    for _, request in _next_requests(view, "tool", "between-tools"):
        session_calls = {call.id: call for call in calls_made(request.session_messages)}
        found = {result.call_id for result in results_in(request.wire.messages)}
        sent = [call for call in calls_made(request.wire.messages) if call.id in session_calls]
        unanswered = [call for call in sent if call.id not in found]
        for call in unanswered:
            yield _UNANSWERED(
                request.at_results_of(call),
                observed=sorted(found),
                related=(request.at_part(call), request.at_session(session_calls[call.id])),
                call=call.id,
                tool=session_calls[call.id].name,
            )
        if sent and not unanswered:
            yield Compared("calls of a turn cancelled in its tools")
