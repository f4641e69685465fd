"""What is said beside the usual course of turns: while one runs, and as the outcome of a user's own command."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding, findings_or_compared
from turnproof.judge.view import View
from turnproof.judge.view.diff import ABSENT, walk_steps
from turnproof.messages import JSON, Message, Text, to_builtins
from turnproof.run.transcript import Interjected, Refused

from .content import model_texts
from .context_room import too_long
from .phrases import EXCEPTION
from .reading import refusal_finding
from .steps import FORGETTING, Step, steps, turns_done, unpaired
from .words import users_say, without_blanks

_REFUSED = finding(
    "history/interjection-is-answered/refused",
    "The session refused a message of the user during a turn.",
    "a turn that takes the text {text}",
    EXCEPTION,
)
_NOT_ANSWERED = finding(
    "history/interjection-is-answered/not-answered",
    "A turn with a second message of the user did not end with an answer.",
    "an answer to the text {text}",
    "a turn that ended with {observed}",
)
_NOT_SENT = finding(
    "history/interjection-is-answered/not-sent",
    "The user's message during a turn is missing from its last request.",
    "the text {expected} among the user's messages",
    "a request without it",
)
_EARLIER_CHANGED = finding(
    "history/interjection-is-answered/earlier-changed",
    "A turn with a second message of the user changed the history before it.",
)
_NOT_HELD = finding(
    "history/interjection-is-answered/not-held",
    "The user's message during a turn is missing from the session's history.",
    "the text {expected} in the history",
    "the user's texts {observed}",
)
_SHOWN_NOT_HELD = finding(
    "history/interjection-is-answered/shown-not-held",
    "The session's history has another answer than the user saw.",
    "the text {expected} in the history",
    "{observed}",
)


@check("history/interjection-is-answered")
def interjection_is_answered(view: View) -> Findings:
    """In the same turn: the model gets it, behind what it had said so far, and the reply is the answer to it."""
    for step in turns_done(view):
        interjection = step.first(Interjected)
        if interjection is None:
            continue
        wrong = list(_wrong_interjection(view, step, interjection))
        yield from findings_or_compared(wrong, "interjections")


def _wrong_interjection(view: View, step: Step, interjection: Interjected) -> Iterator[Finding]:
    """What is wrong with a turn with an interjection. What follows from something earlier in the turn is left out."""
    related = (view.at_event(interjection, "text"),)
    refused = next((one for one in step.events if isinstance(one, Refused) and one.operation == "interject"), None)
    ended, last = step.turn.ended, step.generated[-1] if step.generated else None
    sent = last.call.messages if last is not None and last.call is not None else ()
    if refused is not None:
        place = view.at_event(refused, "error")
        yield _REFUSED(place, observed=refused.message, related=related, text=interjection.text, error=refused.error)
    elif ended is None or ended.outcome != "answer":
        place = step.turn.at() if ended is None else view.at_event(ended, "outcome")
        observed = UNSET if ended is None else ended.outcome
        yield _NOT_ANSWERED(place, observed=observed, related=related, text=interjection.text)
    elif not users_say(sent, interjection.text):
        place = step.turn.at() if last is None else last.at_read("messages")
        yield _NOT_SENT(place, expected=interjection.text, related=related)
    elif not step.collects:
        yield from _missing_messages(step, interjection.text)


def _missing_messages(step: Step, text: str) -> Iterator[Finding]:
    """What is not held of a turn with an interjection."""
    if step.added is None:
        yield from _changes(step, _EARLIER_CHANGED)
        return
    session_texts = [message.text for message in step.added if message.role == "user"]
    user_parts = step.turn.script.user if step.turn.script is not None else ()
    for user_text in (*(part.text for part in user_parts if isinstance(part, Text)), text):
        if not users_say(step.added, user_text):
            yield _NOT_HELD(_at_history(step), expected=user_text, observed=session_texts)
    shown = step.turn.ended.shown if step.turn.ended is not None else ""
    if shown.strip() and without_blanks([shown]) != without_blanks(model_texts(step.added)):
        yield _SHOWN_NOT_HELD(_at_history(step), expected=shown, observed=model_texts(step.added))


def _at_history(step: Step) -> Place:
    """What the session holds after the turn."""
    return step.turn.at(Side.HISTORY, "session")


def _changes(step: Step, code: FindingCode) -> Iterator[Finding]:
    """Where what was held before is another one now; what came on top of it is none of that."""
    before, contents_now = _contents(step.history_before), _contents(step.history)
    differing = [
        place
        for place in walk_steps(before, contents_now)
        if not (place[1] is ABSENT and int(place[0][0]) >= len(before))
    ]
    for path, was, now in differing or [((), before, contents_now)]:
        yield code(
            step.turn.at(Side.HISTORY, "session", *path),
            expected=UNSET if was is ABSENT else was,
            observed=UNSET if now is ABSENT else now,
        )


def _contents(messages: tuple[Message, ...]) -> list[JSON]:
    """Messages without their ids."""
    return [{"role": message.role, "parts": to_builtins(message.parts)} for message in messages]


_COMMAND_REFUSED = finding(
    "history/command-outcomes-are-held/refused",
    "The session refused the outcome of a user's command.",
    "a session that takes it",
    EXCEPTION,
)
_COMMAND_CHANGED_EARLIER = finding(
    "history/command-outcomes-are-held/earlier-changed",
    "The outcome of a user's command changed the history before it.",
)
_COMMAND_NOT_HELD = finding(
    "history/command-outcomes-are-held/not-held",
    "The outcome of a user's command is missing from the session's history.",
    "the command and its outcome {expected} in the history",
    "a history without it",
)
_COMMAND_REQUEST_REFUSED = finding(
    "history/command-outcomes-are-held/request-refused",
    "The API refuses the request after a user's command.",
    "a request that keeps the rule {name:words}",
    "one that the API refuses: {observed:words}",
)
_COMMAND_NOT_SENT = finding(
    "history/command-outcomes-are-held/not-sent",
    "The outcome of a user's command is missing from a later request.",
    "the command and its outcome {expected} in the request",
    "a request without it",
)


@check("history/command-outcomes-are-held")
def command_outcomes_are_held(view: View) -> Findings:
    """Both the command and what it said: in what is held, and in every request, until it is rightly forgotten."""
    waiting: list[tuple[Step, tuple[str, str]]] = []
    for step in steps(view):
        script = step.turn.script
        if step.kind in FORGETTING or step.collects:
            waiting = [(where, command) for where, command in waiting if _has(step.history, command)]
        if step.kind == "inject" and script is not None and script.inject is not None:
            command = script.inject.command, script.inject.outcome
            wrong = list(_wrong_injection(view, step, command))
            yield from wrong
            if not wrong:
                waiting.append((step, command))
        elif step.kind in ("inject", "turn"):
            yield from _requests_after(step, waiting)


def _wrong_injection(view: View, step: Step, command: tuple[str, str]) -> Iterator[Finding]:
    if step.refusal is not None:
        place = view.at_event(step.refusal, "error")
        yield _COMMAND_REFUSED(place, observed=step.refusal.message, error=step.refusal.error)
    elif step.added is None and not unpaired(step.history_before):
        yield from _changes(step, _COMMAND_CHANGED_EARLIER)
    elif not _has(step.added or step.history, command):
        yield _COMMAND_NOT_HELD(_at_history(step), expected=command)


def _requests_after(step: Step, waiting: list[tuple[Step, tuple[str, str]]]) -> Findings:
    for exchange in step.generated:
        if exchange.refusals and not too_long(exchange):
            for refusal in exchange.refusals:
                yield refusal_finding(
                    _COMMAND_REQUEST_REFUSED, exchange, refusal, observed=refusal["message"], name=refusal["rule"]
                )
            continue
        sent = exchange.call.messages if exchange.call is not None else ()
        lost_commands = [(where, command) for where, command in waiting if not _has(sent, command)]
        for where, command in lost_commands:
            yield _COMMAND_NOT_SENT(exchange.at_read("messages"), expected=command, related=(_at_history(where),))
        if waiting and not lost_commands:
            yield Compared("requests after a command")


def _has(messages: tuple[Message, ...], texts: tuple[str, str]) -> bool:
    everything = " ".join(
        [message.text for message in messages] + [str(one.result) for m in messages for one in m.results]
    )
    return all(text in everything for text in texts)
