"""Windows: what a session sends of its conversation where it does not send all of it, and claims so."""

from __future__ import annotations

from collections.abc import Iterator

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View, WindowReading
from turnproof.messages import Message

from .content import calls_made
from .quoted_texts import at_messages
from .steps import Step, every_unpaired, turns_done
from .words import user_words, without_blanks


def _windows(view: View) -> Iterator[tuple[Step, Exchange, WindowReading]]:
    """The requests of the session's turns, each against what was held before its turn."""
    for step in turns_done(view):
        if step.collects or is_broken(step.history_before):
            continue  # what is too long may be made shorter, and what was broken may be mended
        for exchange in step.generated:
            if exchange.window is not None and exchange.window.sent:
                yield step, exchange, exchange.window


def is_broken(messages: tuple[Message, ...]) -> bool:
    """Whether a conversation has a call without a result, or a result without a call."""
    return any(True for _ in every_unpaired(messages))


_UNBOUNDED = finding(
    "history/window-is-bounded/too-much",
    "A request has more of the conversation than the window that the session claims.",
    "at most {window:words} of what was said before the turn",
    "{observed:words}",
)


@check("history/window-is-bounded", needs="wire")
def window_is_bounded(view: View) -> Findings:
    """Of conversations that are longer than the window. It may go back to where a turn begins."""
    for _, exchange, window in _windows(view):
        if not window.is_longer:
            continue
        if window.begins < window.first_allowed:
            counted = "items" if window.window.unit == "item" else "messages"
            observed = f"{len(window.rows) - window.begins} {counted}"
            yield _UNBOUNDED(at_messages(exchange), observed=observed, window=str(window.window))
        else:
            yield Compared("requests with a window")


_NO_CALL = finding(
    "history/window-parts-no-pair/no-call",
    "A window has a result without its call.",
    "the call {call} of the tool {tool} in front of its result, or neither",
    "the result alone",
)
_NO_RESULT = finding(
    "history/window-parts-no-pair/no-result",
    "A window has a call without its result.",
    "a result for the call {call} of the tool {tool}, or neither",
    "the call alone",
)


@check("history/window-parts-no-pair", needs="wire")
def window_parts_no_pair(view: View) -> Findings:
    """Of requests that leave something out of a conversation with calls: each has both sides of a pair, or none.

    An adapter may leave out what is alone. Where the session shows what it hands to one, that has to be whole, too.
    """
    for step, exchange, window in _windows(view):
        if not window.is_longer and window.begins == 0:
            continue
        handed_call = next((call for call in step.turn.calls if exchange in call.exchanges), None)
        lone = [(at_messages(exchange), one) for one in every_unpaired(window.sent)]
        if handed_call is not None and not lone:
            found = every_unpaired(handed_call.began.messages)
            lone = [(handed_call.at(Side.HISTORY, one.message, "parts", one.part), one) for one in found]
        for place, one in lone:
            code = _NO_CALL if one.lacks == "call" else _NO_RESULT
            yield code(place, call=one.call_id, tool=one.tool or _tool_of(one.call_id, window.past))
        if not lone and (calls_made(window.past) or calls_made(window.sent)):
            yield Compared("windows over calls and results")


def _tool_of(call_id: str, messages: tuple[Message, ...]) -> str:
    """The tool that a call names. On the wire a result may have the id alone."""
    return next((call.name for call in calls_made(messages) if call.id == call_id), "")


_NO_USER_TEXT = finding(
    "history/window-has-the-running-turn/user-text",
    "The request lacks what the user says in this turn.",
    "the user's text {expected} in the request",
    "the user's texts {observed}",
)
_NO_ROUND = finding(
    "history/window-has-the-running-turn/calls",
    "The request lacks calls of the turn that is running.",
    "the {expected} calls that the model made in this turn, with their results",
    "{observed} calls behind what the user said",
)
_NO_SYSTEM = finding(
    "history/window-has-the-running-turn/system",
    "The request lacks the instructions.",
    "the instructions {expected}",
    "{observed}",
)


@check("history/window-has-the-running-turn", needs="wire")
def window_has_the_running_turn(view: View) -> Findings:
    """Of requests that leave something out, and of turns longer than the window: the instructions, what the user says,
    and each call that the model has made since."""
    for step, exchange, window in _windows(view):
        call_count = sum(len(calls_made_by(one)) for one in step.answers if one.number < exchange.number)
        longer = window.window.unit != "turn" and len(window.sent) >= window.window.count and call_count > 0
        if not window.is_longer and not longer:
            continue
        wrong = list(_missing_of_the_turn(view, step, exchange, window, call_count))
        yield from wrong
        if not wrong:
            yield Compared("windows with the running turn")


def calls_made_by(exchange: Exchange) -> tuple[object, ...]:
    """The calls of an answer."""
    return tuple(calls_made([Message("model", exchange.answer.parts)])) if exchange.answer is not None else ()


def _missing_of_the_turn(
    view: View, step: Step, exchange: Exchange, window: WindowReading, call_count: int
) -> Iterator[Finding]:
    text = view.scenario.enriched(step.turn.user_text)
    if without_blanks([text]) not in user_words(window.sent):
        observed = [message.text for message in window.sent if message.role == "user" and message.text]
        yield _NO_USER_TEXT(at_messages(exchange), expected=text, observed=observed)
    elif (found := _calls_behind(window.sent, text)) < call_count:
        yield _NO_ROUND(at_messages(exchange), expected=call_count, observed=found)
    system = view.scenario.system_in(step.turn.index)
    call = exchange.call
    if system and call is not None:
        texts = [part.text for part in call.system if hasattr(part, "text")]
        texts += [message.text for message in call.messages if message.role == "system"]
        if without_blanks([system]) not in without_blanks(texts):
            yield _NO_SYSTEM(exchange.at(), expected=system, observed=texts)


def _calls_behind(messages: tuple[Message, ...], text: str) -> int:
    words = without_blanks([text])
    places = [n for n, one in enumerate(messages) if one.role == "user" and words in without_blanks([one.text])]
    return len(calls_made(messages[places[-1] if places else 0 :]))


_LOST = finding(
    "history/window-is-unbroken/lost",
    "The window lacks messages that the session claims to send, or has others.",
    "the last {window:words} of what was said before the turn, as they are and in their order: {expected}",
    "{observed}",
)


@check("history/window-is-unbroken", needs="wire")
def window_is_unbroken(view: View) -> Findings:
    """Of requests to conversations longer than the window: from its first message on, all that was said is there."""
    for _, exchange, window in _windows(view):
        if not window.is_longer or not window.has_the_turn:
            continue  # a turn without its beginning is another requirement's
        if window.lacks:
            yield _LOST(
                at_messages(exchange),
                expected=[_brief(one) for one in window.lacks],
                observed=[_brief(one) for one in window.sent],
                window=str(window.window),
            )
        else:
            yield Compared("windows without a gap")


def _brief(message: Message) -> str:
    """A message in a few words: what it says, or how many calls or results it has."""
    if message.text.strip():
        return f"{message.role}: {message.text}"
    return f"{message.role}: {len(message.parts)} parts"
