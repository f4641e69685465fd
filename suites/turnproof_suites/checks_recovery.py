"""Recovery: after a passing fault the turn goes on as if nothing had happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, ProviderCall, TurnView, View
from turnproof.judge.view.diff import Steps, equal
from turnproof.messages import JSON, FinishReason, FunctionCall

from .phrases import OUTCOME_AND_FAILURE
from .reading import ReadRequest, calls_made, makes_room, results_in, too_long, value_differences
from .steps import failure


def _attempts(view: View) -> Iterator[tuple[TurnView, ProviderCall, ProviderCall]]:
    """Each attempt that failed, with the next attempt at the same answer."""
    for turn in view.turns:
        for first, second in pairwise(turn.calls):
            if (
                second.attempt == first.attempt + 1
                and second.began.round == first.began.round
                and first.came_to_nothing
            ):
                yield turn, first, second


_NOT_SURVIVED = finding(
    "recovery/turn-survives-a-passing-fault/no-answer",
    "A turn with a passing fault did not end with an answer.",
    "the outcome {expected} after a passing fault ({faults:words})",
    OUTCOME_AND_FAILURE,
)


@check("recovery/turn-survives-a-passing-fault")
def turn_survives_a_passing_fault(view: View) -> Findings:
    """What the scenario lets go wrong once goes well the second time."""
    for turn in view.turns:
        if turn.script is None or not turn.script.faults or turn.expected != "answer" or turn.ended is None:
            continue
        if turn.ended.outcome == "error" and _other_words(turn):
            continue  # the user has been shown text that this answer does not begin with: it cannot be gone on with
        if turn.ended.outcome == "answer":
            yield Compared("turns with a passing fault")
        else:
            failed = turn.failed
            yield _NOT_SURVIVED(
                turn.at_event(turn.ended, "outcome") if failed is None else view.at_event(failed, "error"),
                expected="answer",
                observed=turn.ended.outcome,
                faults=", ".join(sorted({fault.kind for fault in turn.script.faults})),
                failure=failure(turn),
            )


def _other_words(turn: TurnView) -> bool:
    """Whether an attempt brought another text, or other calls, than were shown of the one before."""
    for first, second in pairwise(turn.calls):
        if first.failed is None or second.began.round != first.began.round or second.last is None:
            continue
        shown = [(call.name, call.args) for call in first.function_calls]
        parts = second.last.answer.parts if second.last.answer is not None else ()
        made = [(call.name, call.args) for call in parts if isinstance(call, FunctionCall)]
        if not second.last.text.startswith("".join(first.chunks)) or made[: len(shown)] != shown:
            return True
    return False


_CHANGED = finding(
    "recovery/a-retried-request-is-the-same/changed",
    "A repeated request differs from the attempt before.",
    "{expected}, as in the attempt before",
)


@check("recovery/a-retried-request-is-the-same")
def a_retried_request_is_the_same(view: View) -> Findings:
    """The failed attempt leaves nothing in the next one, and takes nothing away."""
    for _, first, second in _attempts(view):
        if first.sent is None or second.sent is None or second.last is None or makes_room(first):
            continue
        before, now = view.dialect.match_form(first.sent), view.dialect.match_form(second.sent)
        if equal(before, now):
            yield Compared("repeated requests")
        else:
            yield from _changes(first, second.last, before, now)


def _changes(first: ProviderCall, exchange: Exchange, before: JSON, now: JSON) -> Iterator[Finding]:
    for one in value_differences(before, now):
        yield _CHANGED(
            _at_form(exchange, now, one.steps),
            expected=one.expected,
            observed=one.observed,
            related=(first.at_request(),),
        )


def _at_form(exchange: Exchange, form: JSON, steps: Steps) -> Place:
    """The place in a request's body of a place in its match form, as exactly as both have the same order."""
    sent = exchange.call
    if sent is None or not steps:
        return exchange.at()
    if steps[0] != "messages" or len(steps) < 2 or len(form["messages"]) != len(sent.messages):
        return exchange.at_read(str(steps[0]))
    number = int(steps[1])
    if len(steps) < 4 or len(form["messages"][number][1]) != len(sent.messages[number].parts):
        return exchange.at_read("messages", number)
    return exchange.at_read("messages", number, "parts", *steps[3:])


_TWICE = finding(
    "recovery/results-go-out-once/twice",
    "A repeated request has more results for a tool call than calls.",
    "{expected} as the number of results for the call {call}",
)


@check("recovery/results-go-out-once")
def results_go_out_once(view: View) -> Findings:
    """Sending results again must not send them twice."""
    for _, _, second in _attempts(view):
        if second.sent is None or second.last is None:
            continue
        results = results_in(second.sent.messages)
        counts = Counter(result.call_id for result in results)
        made = Counter(call.id for call in calls_made(second.sent.messages))
        double = sorted(name for name, times in counts.items() if times > max(1, made[name]))
        request = ReadRequest(second, second.last, second.sent)
        for name in double:
            last = next(result for result in reversed(results) if result.call_id == name)
            yield _TWICE(request.at_part(last), expected=max(1, made[name]), observed=counts[name], call=name)
        if counts and not double:
            yield Compared("results in repeated requests")


_NOT_ON_THE_WIRE = finding(
    "recovery/text-is-shown-once/not-on-the-wire",
    "The user was shown text that the wire did not carry before a fault.",
    "text from {expected}",
)
_NOT_THE_ANSWER = finding(
    "recovery/text-is-shown-once/not-the-answer",
    "The user was shown another text than the answer of a turn with a repeated attempt.",
)


@check("recovery/text-is-shown-once", callbacks=("on_chunk",))
def text_is_shown_once(view: View) -> Findings:
    """What was shown before the fault is not shown again by the attempt that goes well."""
    for turn in view.turns:
        for call in turn.calls:
            if not call.began.streamed or not call.chunks or call.last is None:
                continue
            shown = "".join(call.chunks)
            if call.last.fault is not None and shown.strip() not in call.last.text:
                yield _NOT_ON_THE_WIRE(
                    call.at(Side.CALLBACK), expected=call.last.text, observed=shown, related=(call.at_answer(),)
                )
        if any(True for _ in _repeated_calls(turn)) and turn.ended is not None and turn.ended.outcome == "answer":
            returned = [call for call in turn.calls if call.response is not None]
            answers = "".join(call.response.text for call in returned if call.response is not None)
            if turn.ended.shown == answers:
                yield Compared("texts shown in turns with repeated attempts")
            else:
                yield _NOT_THE_ANSWER(
                    turn.at_event(turn.ended, "shown"),
                    expected=answers,
                    observed=turn.ended.shown,
                    related=[call.at(Side.RESPONSE, "parts") for call in returned],
                )


def _repeated_calls(turn: TurnView) -> Iterator[ProviderCall]:
    """Calls that showed text and had to be made again: by the session, or by the adapter below it."""
    return (
        call
        for call in turn.calls
        if call.began.streamed and call.chunks and (call.came_to_nothing or len(call.generated) > 1)
    )


_NOTHING_SHORTER = finding(
    "recovery/a-too-long-prompt-is-shortened/not-sent",
    "After a prompt that was too long, nothing shorter was sent.",
    "a shorter request after this one",
    "none",
)
_NO_SHORTER = finding(
    "recovery/a-too-long-prompt-is-shortened/no-shorter",
    "The prompt after one that was too long is no shorter.",
    "fewer tokens than {expected}",
)


@check("recovery/a-too-long-prompt-is-shortened")
def a_too_long_prompt_is_shortened(view: View) -> Findings:
    """The error is recognised as what it is, so that the session can make room and go on."""
    for turn in view.turns:
        for position, call in enumerate(turn.calls):
            error_expected = turn.script is not None and turn.script.expect == "error"
            if not too_long(call.last) or call.sent is None or error_expected:
                continue
            if [message.role for message in call.sent.messages].count("user") < 2 and not results_in(
                call.sent.messages
            ):
                continue  # nothing came before what does not fit
            following = turn.calls[position + 1] if position + 1 < len(turn.calls) else None
            if following is None or following.sent is None:
                yield _NOTHING_SHORTER(call.at_request(), related=(call.at_answer(),))
                continue
            refused, sent = view.dialect.count(call.sent), view.dialect.count(following.sent)
            if sent >= refused:
                place = following.at_request()
                yield _NO_SHORTER(place, expected=refused, observed=sent, related=(call.at_request(),))
            elif following.response is not None and following.response.finish_reason is not FinishReason.ERROR:
                yield Compared("prompts made shorter")
