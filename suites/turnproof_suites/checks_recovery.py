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
from turnproof.run.transcript import TakenBack

from .content import calls_made, results_in
from .context_room import makes_room, too_long
from .part_rows import value_differences
from .phrases import ERROR_AND_MESSAGE, OUTCOME_AND_FAILURE
from .reading import ReadRequest
from .steps import Step, failure, turns_done
from .words import without_blanks


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


_OTHER_FORMS = frozenset({"split", "drip", "comment", "respelled", "merged", "compressed"})
"""What a scenario may do to an answer that arrives whole: nothing fails there, and what does has another reason."""

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
        faults = {fault.kind for fault in turn.script.faults} - _OTHER_FORMS if turn.script is not None else set()
        if not faults or turn.expected != "answer" or turn.ended is None:
            continue
        if turn.ended.outcome == "error" and _other_words(turn):
            continue  # the user has been shown text that this answer does not begin with: it cannot be gone on with
        if turn.ended.outcome == "error" and _failed_before_the_fault(turn):
            continue
        if turn.ended.outcome == "answer":
            yield Compared("turns with a passing fault")
        else:
            failed = turn.failed
            yield _NOT_SURVIVED(
                turn.at_event(turn.ended, "outcome") if failed is None else view.at_event(failed, "error"),
                expected="answer",
                observed=turn.ended.outcome,
                faults=", ".join(sorted(faults)),
                failure=failure(turn),
            )


def _failed_before_the_fault(turn: TurnView) -> bool:
    """Whether a request that breaks a rule of the API ended the turn, and the fault had not come."""
    exchanges = [exchange for call in turn.calls for exchange in call.exchanges]
    came = any(each.response is None or each.response.fault is not None for each in exchanges)
    return bool(exchanges) and bool(exchanges[-1].refusals) and not came


def _other_words(turn: TurnView) -> bool:
    """Whether an attempt brought another text, or other calls, than were shown of the one before."""
    for first, second in pairwise(turn.calls):
        if first.failed is None or second.began.round != first.began.round or second.last is None:
            continue
        shown = [(call.name, call.args) for call in first.function_calls]
        parts = second.last.answer.parts if second.last.answer is not None else ()
        calls = [(call.name, call.args) for call in parts if isinstance(call, FunctionCall)]
        if not second.last.text.startswith("".join(first.chunks)) or calls[: len(shown)] != shown:
            return True
    return False


_JOINED = finding(
    "recovery/other-words-are-not-joined/joined",
    "The user is shown a text that no answer has: an answer broke and came in other words when it was asked for again.",
)
_UNTYPED = finding(
    "recovery/other-words-are-not-joined/untyped",
    "A turn whose answer broke, and came in other words, failed with something that is no ProviderError.",
    "a ProviderError",
    ERROR_AND_MESSAGE,
)


@check("recovery/other-words-are-not-joined", needs="wire")
def other_words_are_not_joined(view: View) -> Findings:
    """Either the turn fails, or the user is shown the new answer, and of the broken one nothing any more."""
    for step in turns_done(view) if view.streamed else ():
        ended, failed = step.turn.ended, step.turn.failed
        broken = _broken_and_unlike(step)
        if broken is None or ended is None or ended.outcome == "cancelled":
            continue
        if ended.outcome == "error" and failed is not None and not failed.typed:
            yield _UNTYPED.of_error(step.turn.at_event(failed, "error"), failed)
        elif ended.outcome == "answer" and without_blanks([ended.shown]) != without_blanks(step.answered_text):
            yield _JOINED(
                step.at_event(ended, "shown"),
                expected="".join(step.answered_text),
                observed=ended.shown,
                related=[one.at(Side.STREAM) for one in (broken, *step.answers)],
            )
        else:
            yield Compared("answers that came in other words")


def _broken_and_unlike(step: Step) -> Exchange | None:
    """The first answer of a turn that broke when it had text, and that the next attempt does not begin with.

    A client may leave that attempt at its first other word. A request with more results is no attempt: it goes on from
    an answer that lacked no more than its last event, and was taken for whole.
    """
    for first, second in pairwise(step.generated):
        if _results(second) > _results(first):
            continue
        if first.fault is None or not first.text or second.fault is not None or not second.answered:
            continue
        goes_on = not second.clean and first.text.startswith(second.text)
        if not second.text.startswith(first.text) and not goes_on:
            return first
    return None


def _results(exchange: Exchange) -> int:
    return len(list(results_in(exchange.call.messages))) if exchange.call is not None else 0


_NO_ANSWER = finding(
    "recovery/shown-text-is-taken-back/no-answer",
    "A turn whose answer came in other words did not end with an answer, though shown text can be removed.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)
_NOT_TOLD = finding(
    "recovery/shown-text-is-taken-back/not-told",
    "What was shown of the broken answer is not taken back.",
    "{expected} to be taken back",
    "nothing",
)
_OTHER_THAN_SHOWN = finding(
    "recovery/shown-text-is-taken-back/other-text",
    "What is taken back is not what was shown of the broken answer.",
    "a beginning of {expected}",
)
_STILL_SHOWN = finding(
    "recovery/shown-text-is-taken-back/still-shown",
    "The broken answer is taken back too late: its text is still shown in front of the new one.",
)


@check("recovery/shown-text-is-taken-back", needs="wire")
def shown_text_is_taken_back(view: View) -> Findings:
    """The turn continues with the new answer, after the text of the broken one was taken back."""
    for step in turns_done(view) if view.streamed else ():
        ended, broken = step.turn.ended, _broken_and_unlike(step)
        if step.turn.script is None or not step.turn.script.take_back or broken is None or ended is None:
            continue
        taken_back = [event for event in step.events if isinstance(event, TakenBack)]
        if ended.outcome != "answer":
            yield _NO_ANSWER(step.turn.at_end(), expected="answer", observed=ended.outcome, failure=failure(step.turn))
        elif not taken_back and without_blanks([ended.shown]) != without_blanks(step.answered_text):
            yield _NOT_TOLD(step.at_event(ended, "shown"), expected=broken.text, related=(broken.at(Side.STREAM),))
        elif wrong := [one for one in taken_back if not one.text.strip() or not broken.text.startswith(one.text)]:
            yield _OTHER_THAN_SHOWN(
                step.at_event(wrong[0], "text"),
                expected=broken.text,
                observed=wrong[0].text,
                related=(broken.at(Side.STREAM),),
            )
        elif taken_back and without_blanks([ended.shown]) != without_blanks(step.answered_text):
            yield _STILL_SHOWN(
                step.at_event(ended, "shown"),
                expected="".join(step.answered_text),
                observed=ended.shown,
                related=(step.at_event(taken_back[-1], "text"),),
            )
        elif taken_back:
            yield Compared("texts taken back")


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
        call_counts = Counter(call.id for call in calls_made(second.sent.messages))
        double = sorted(name for name, times in counts.items() if times > max(1, call_counts[name]))
        request = ReadRequest(second, second.last, second.sent)
        for name in double:
            last = next(result for result in reversed(results) if result.call_id == name)
            yield _TWICE(request.at_part(last), expected=max(1, call_counts[name]), observed=counts[name], call=name)
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
