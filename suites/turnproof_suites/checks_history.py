"""The history of a session: what was said is held, whatever is done with it, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.view import View
from turnproof.judge.view.diff import equal
from turnproof.messages import FunctionCall, Message, Part, Text, same
from turnproof.run.transcript import SessionInForce

from .content import calls_in, calls_made, has_user_texts, model_texts, spoken_text
from .context_room import too_long
from .part_rows import value_differences
from .reading import refusal_finding
from .steps import Step, Unpaired, content, ends_alike, every_unpaired, operations_done, steps, turns_done, unpaired
from .words import without_blanks

_EARLIER_CHANGED = finding(
    "history/what-was-said-is-held/earlier-changed", "A turn changed what the session held before it."
)
_USER_TEXT = finding(
    "history/what-was-said-is-held/user-text",
    "The new messages do not begin with the user's message, once.",
    "the user's texts {expected} in the new messages",
)
_MODEL_TEXT = finding(
    "history/what-was-said-is-held/model-text",
    "The new messages do not have the model's answer, once.",
    "the model's texts {expected} in the new messages",
)
_CALLS = finding(
    "history/what-was-said-is-held/calls",
    "The new messages do not have the calls that the model made.",
    "calls with the arguments {expected} in the new messages",
)


@check("history/what-was-said-is-held")
def what_was_said_is_held(view: View) -> Findings:
    """On top of what was held: the user's message, then every text and call of the model."""
    for step in turns_done(view):
        if not step.ordinary or unpaired(step.history_before):
            continue  # what was broken before may be mended now, by whatever is put in front of the turn
        wrong = list(
            _changed(_EARLIER_CHANGED, step) if step.added is None else _missing_content(view, step, step.added)
        )
        yield from findings_or_compared(wrong, "turns in the history")


def _changed(code: FindingCode, step: Step) -> Iterator[Finding]:
    """What of the messages that were held before is not held as it was. What came on top of them is not looked at."""
    messages_now = step.history[: len(step.history_before)]
    for one in value_differences(content(step.history_before), content(messages_now)):
        yield code(step.at_change(one), expected=one.expected, observed=one.observed)


def _undeclared(view: View, step: Step) -> Iterator[str]:
    """The names that the model of the scenario calls in this turn, and for which there is no tool."""
    known = {tool.name for tool in view.scenario.tools_in(step.turn.index)}
    rounds = step.turn.script.rounds if step.turn.script is not None else ()
    parts = (part.part for round_ in rounds for part in round_.parts)
    return (part.name for part in parts if isinstance(part, FunctionCall) and part.name not in known)


def _missing_content(view: View, step: Step, added: tuple[Message, ...]) -> Iterator[Finding]:
    """What of an ordinary turn is not in the messages that came on top, or is there too often."""
    user_message = view.scenario.enriched(step.turn.user_text)
    found = [message.text for message in added if message.role == "user" and message.text.strip()]
    if user_message.strip() and (
        not added or added[0].role != "user" or without_blanks(found) != without_blanks([user_message])
    ):
        yield _USER_TEXT(_at_text(step, "user", [user_message]), expected=[user_message], observed=found)
    texts = step.answered_text
    if step.turn.script is not None and step.turn.script.response_schema is None:
        session_texts = model_texts(added)
        if without_blanks(texts) != without_blanks(session_texts):
            related = [one.at(Side.STREAM) for one in step.answers]
            yield _MODEL_TEXT(_at_text(step, "model", texts), expected=texts, observed=session_texts, related=related)
    answers = [calls_in(one.answer.parts) for one in step.answers if one.answer is not None]
    calls: Sequence[FunctionCall] = calls_made(added)
    if step.first(SessionInForce) is not None:
        # An agent shows the calls that it makes. Of one for a tool that there is not, it may tell the model alone.
        unknown = tuple(_undeclared(view, step))
        answers = [tuple(call for call in each if not call.name.endswith(unknown)) for each in answers]
        calls = _calls_in_answer_order(answers, [call for call in calls if not call.name.endswith(unknown)])
    answer_arguments = [call.args for each in answers for call in each]
    arguments = [call.args for call in calls]
    if not equal(answer_arguments, arguments):
        wrong = next(
            (call for call, args in zip(calls, answer_arguments, strict=False) if not equal(call.args, args)), None
        )
        yield _CALLS(
            _at_history(step, wrong, "args") if wrong else step.at_history(),
            expected=answer_arguments,
            observed=arguments,
        )


def _at_text(step: Step, role: str, texts: Sequence[str]) -> Place:
    """The first text of a role in the new messages that is not the one expected there; all messages if none is."""
    left = list(texts)
    for number, message in enumerate(step.history[len(step.history_before) :], len(step.history_before)):
        text = spoken_text(message.parts)
        if message.role == role and text and (not left or without_blanks([left.pop(0)]) != without_blanks([text])):
            text_places = [place for place, part in enumerate(message.parts) if isinstance(part, Text)]
            return step.at_history(number, "parts", *((text_places[0], "text") if len(text_places) == 1 else ()))
    return step.at_history()


def _at_history(step: Step, part: Part, *field: str) -> Place:
    """The place of a part that the session holds after the step."""
    for number, message in enumerate(step.history):
        for place, one in enumerate(message.parts):
            if one is part:
                return step.at_history(number, "parts", place, *field)
    return step.at_history()


def _calls_in_answer_order(
    answers: Sequence[Sequence[FunctionCall]], calls: Sequence[FunctionCall]
) -> Sequence[FunctionCall]:
    """The calls that an agent told of, those of each answer in its own order; as they are, where they are others.

    A program begins the calls of one answer beside each other, and tells of each as it begins.
    """
    found, rest = list[FunctionCall](), list(calls)
    for answer in answers:
        own_calls, rest = rest[: len(answer)], rest[len(answer) :]
        for call in answer:
            place = next((place for place, one in enumerate(own_calls) if equal(one.args, call.args)), None)
            if place is None:
                return calls
            found.append(own_calls.pop(place))
    return [*found, *rest]


_LEFT_BEHIND = finding(
    "history/failed-turn-leaves-nothing/left-behind", "The history after a failed turn is not what it was before."
)


@check("history/failed-turn-leaves-nothing")
def failed_turn_leaves_nothing(view: View) -> Findings:
    """Of turns in which the model never answered. What to keep of a half-done one is the session's to say."""
    for step in turns_done(view):
        ended = step.turn.ended
        if ended is None or ended.outcome != "error" or step.answers or step.collects or unpaired(step.history_before):
            continue
        if step.unchanged:
            yield Compared("histories after failed turns")
        for one in step.changes:
            yield _LEFT_BEHIND(step.at_change(one), expected=one.expected, observed=one.observed)


_EARLIER_CHANGED_BY_CANCEL = finding(
    "history/shown-text-is-kept/earlier-changed", "A cancelled turn changed what the session held before it."
)
_USER_TEXT_OF_CANCELLED = finding(
    "history/shown-text-is-kept/user-text-missing",
    "The user's message of a cancelled turn is not in the history.",
    "the user's text {expected} in the new messages",
)
_SHOWN_TEXT = finding(
    "history/shown-text-is-kept/shown-text-missing",
    "The history lacks text that the user saw before the cancel.",
    "the text {expected}, which the user saw",
    "the model's texts {observed}",
)


@check("history/shown-text-is-kept")
def shown_text_is_kept(view: View) -> Findings:
    """What the user has seen before the cancel, under the message that it answers."""
    for step in turns_done(view):
        ended = step.turn.ended
        if ended is None or ended.outcome != "cancelled" or not ended.shown.strip() or step.collects:
            continue
        if unpaired(step.history_before):
            continue
        wrong = list(_text_lost_by_cancel(step, ended.shown))
        yield from findings_or_compared(wrong, "texts shown before a cancel")


def _text_lost_by_cancel(step: Step, shown: str) -> Iterator[Finding]:
    if step.added is None:
        yield from _changed(_EARLIER_CHANGED_BY_CANCEL, step)
        return
    if not has_user_texts(step.turn, step.added):
        session_texts = [message.text for message in step.added if message.role == "user"]
        yield _USER_TEXT_OF_CANCELLED(step.at_history(), expected=step.turn.user_text, observed=session_texts)
    held_texts = model_texts(step.added)
    if without_blanks([shown]) not in without_blanks(held_texts):
        related = [step.turn.at_event(step.turn.ended, "shown")] if step.turn.ended is not None else []
        yield _SHOWN_TEXT(_at_text(step, "model", [shown]), expected=shown, observed=held_texts, related=related)


_REFUSED_AFTER_CANCEL = finding(
    "history/cancelled-turn-serves-the-next/refused",
    "The API refuses the request after a cancelled turn.",
    "a request that the API accepts after the cancelled turn {cancelled}",
    "a request that it refuses: {message:words}",
)
_OUTCOME_AFTER_CANCEL = finding(
    "history/cancelled-turn-serves-the-next/outcome",
    "The turn after a cancelled one was not answered.",
    "the outcome {expected} after the cancelled turn {cancelled}",
)


@check("history/cancelled-turn-serves-the-next")
def cancelled_turn_serves_the_next(view: View) -> Findings:
    """The conversation goes on: the API takes the next request, and the model answers."""
    cancelled: int | None = None
    for step in steps(view):
        if step.kind != "turn":
            cancelled = cancelled if step.unchanged else None
            continue
        ended = step.turn.ended
        if cancelled is not None and ended is not None and step.turn.expected == "answer":
            refusals = list(_refusals(_REFUSED_AFTER_CANCEL, step, cancelled=cancelled))
            yield from refusals
            if not refusals and ended.outcome == "answer":
                yield Compared("turns after a cancelled one")
            elif not refusals:
                place = step.turn.at_event(ended, "outcome")
                yield _OUTCOME_AFTER_CANCEL(place, expected="answer", observed=ended.outcome, cancelled=cancelled)
        cancelled = step.turn.index if step.turn.cancelled else None


def _refusals(code: FindingCode, step: Step, **facts: object) -> Iterator[Finding]:
    """The rules that the requests of a step offend. That a prompt is too long is no fault of the history."""
    for exchange in step.generated:
        if not too_long(exchange):
            for refusal in exchange.refusals:
                yield refusal_finding(code, exchange, refusal, message=refusal["message"], **facts)


_NO_RESULT = finding(
    "history/calls-and-results-stay-paired/no-result",
    "A call in the history has no result.",
    "a result for the call {call} of the tool {tool} in the messages behind it",
    "none",
)
_NO_CALL = finding(
    "history/calls-and-results-stay-paired/no-call",
    "A result in the history has no call.",
    "the call {call} of the tool {tool} in front of its result",
    "a result without it",
)


@check("history/calls-and-results-stay-paired")
def calls_and_results_stay_paired(view: View) -> Findings:
    """After every turn and operation. What was taken over, and the calls that a turn without an answer has left
    behind, may be mended when the conversation goes on: then its next request shows whether they were."""
    unused = bool(unpaired(view.scenario.given))
    every, cut = steps(view), False
    for step, following in zip(every, [*every[1:], None], strict=False):  # a run may have ended before its first step
        unused = unused and step.kind != "turn"
        if unused:
            continue
        if step.kind == "turn":
            cut = step.turn.ended is not None and step.turn.ended.outcome != "answer"
        alone = list(every_unpaired(step.history))
        if cut and alone and all(_is_left_behind(one, step.history) for one in alone):
            if following is None or not following.generated or following.generated[0].call is None:
                continue  # nobody knows what would have been sent
            if unpaired(following.generated[0].call.messages) is None:
                yield Compared("calls that are answered when the conversation goes on")
                continue
        yield from (_alone(step, one, _NO_RESULT, _NO_CALL) for one in alone)
        if not alone and calls_made(step.history):
            yield Compared("calls and results held")


def _is_left_behind(one: Unpaired, messages: Sequence[Message]) -> bool:
    """Whether it is a call of the last answer, which nobody has answered so far."""
    last = max((n for n, message in enumerate(messages) if message.role == "model"), default=-1)
    return one.lacks == "result" and one.message == last


def _alone(step: Step, one: Unpaired, no_result: FindingCode, no_call: FindingCode) -> Finding:
    """A finding for a call without a result, or a result without a call, that the session holds after a step."""
    code = no_result if one.lacks == "result" else no_call
    return code(step.at_history(one.message, "parts", one.part), call=one.call_id, tool=one.tool)


_MENDED_REFUSED = finding(
    "history/broken-conversation-is-mended/refused",
    "The API refuses the request of a conversation that was taken over.",
    "a request that the API accepts",
    "a request that it refuses: {message:words}",
)
_NOT_CONTINUED = finding(
    "history/broken-conversation-is-mended/outcome",
    "A conversation that was taken over does not go on.",
    "the outcome {expected}",
)
_STILL_NO_RESULT = finding(
    "history/broken-conversation-is-mended/no-result",
    "A call of a conversation that was taken over still has no result.",
    "a result for the call {call} of the tool {tool}",
    "none",
)
_STILL_NO_CALL = finding(
    "history/broken-conversation-is-mended/no-call",
    "A result of a conversation that was taken over still has no call.",
    "the call {call} of the tool {tool} in front of its result",
    "a result without it",
)
_LOST_BY_MENDING = finding(
    "history/broken-conversation-is-mended/text-lost",
    "A text is lost from a conversation that was mended.",
    "the text {expected} in the history",
    "the texts {observed}",
)


@check("history/broken-conversation-is-mended")
def broken_conversation_is_mended(view: View) -> Findings:
    """In the turn after one with an unanswered call was taken over: it is answered, and what is held is whole."""
    for step in turns_done(view):
        if not unpaired(step.history_before) or step.turn.expected != "answer":
            continue
        wrong = list(_unrepaired(step))
        yield from findings_or_compared(wrong, "conversations mended")


def _unrepaired(step: Step) -> Iterator[Finding]:
    ended = step.turn.ended
    refusals = list(_refusals(_MENDED_REFUSED, step))
    yield from refusals
    if not refusals and (ended is None or ended.outcome != "answer"):
        place = step.turn.at() if ended is None else step.turn.at_event(ended, "outcome")
        yield _NOT_CONTINUED(place, expected="answer", observed=None if ended is None else ended.outcome)
    elif not refusals:
        for one in every_unpaired(step.history):
            yield _alone(step, one, _STILL_NO_RESULT, _STILL_NO_CALL)
        session_texts = [message.text for message in step.history if message.text.strip()]
        for text in _missing_texts(step.history_before, step.history) if not step.collects else ():
            yield _LOST_BY_MENDING(step.at_history(), expected=text, observed=session_texts)


def _missing_texts(before: tuple[Message, ...], messages: tuple[Message, ...]) -> list[str]:
    """The texts of user and model that are not held any more."""
    held_texts = [message.text for message in messages]
    return [message.text for message in before if message.text.strip() and message.text not in held_texts]


_CHANGED_BY_CALLER = finding(
    "history/returned-list-is-a-copy/changed",
    "A caller changed the history through the list that the session returned.",
    "{expected} messages in the history, whatever a caller does to its list",
    "{observed} messages after a caller emptied it",
)


@check("history/returned-list-is-a-copy")
def returned_list_is_a_copy(view: View) -> Findings:
    """What a caller does to the list that it was given stays with the caller."""
    for step in operations_done(view, "tamper"):
        if step.unchanged:
            yield Compared("lists that were handed out")
        else:
            yield _CHANGED_BY_CALLER(step.at_history(), expected=len(step.history_before), observed=len(step.history))


_ID_TWICE = finding(
    "history/message-ids-are-kept/twice",
    "Two messages have the same id.",
    "a message id that no message before has",
    "{observed} again",
)
_ID_CHANGED = finding(
    "history/message-ids-are-kept/changed",
    "The id of a message changed.",
    "the id {expected} for the {role:words} message {text}",
)


@check("history/message-ids-are-kept")
def message_ids_are_kept(view: View) -> Findings:
    """From turn to turn and through every operation; and no two messages have the same."""
    for step in steps(view):
        wrong = [*_ids_twice(step), *_ids_changed(step)]
        yield from wrong
        if not wrong and step.history:
            yield Compared("message ids")


def _ids_twice(step: Step) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for number, message in enumerate(step.history):
        earlier = first.setdefault(message.message_id, number)
        if earlier != number:
            place = step.at_history(number, "message_id")
            yield _ID_TWICE(place, observed=message.message_id, related=[step.at_history(earlier, "message_id")])


def _ids_changed(step: Step) -> Iterator[Finding]:
    for number, old, new in _remaining_messages(step):
        if old.message_id != new.message_id:
            yield _ID_CHANGED(
                step.at_history(number, "message_id"),
                expected=old.message_id,
                observed=new.message_id,
                role=old.role,
                text=old.text,
            )


def _remaining_messages(step: Step) -> list[tuple[int, Message, Message]]:
    """The messages that were held before and are held still: their place now, and each as it was and as it is."""
    if step.kind == "gc":
        count = ends_alike(step.history_before, step.history)
        start = len(step.history) - count
        pairs = zip(step.history_before[len(step.history_before) - count :], step.history[start:], strict=True)
        return [(start + number, old, new) for number, (old, new) in enumerate(pairs)]
    if step.collects:
        return []
    found: list[tuple[int, Message, Message]] = []
    for number, (old, new) in enumerate(zip(step.history_before, step.history, strict=False)):
        if not same(old, new, ids=False):
            break
        found.append((number, old, new))
    return found
