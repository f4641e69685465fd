"""Children of a session: each has a conversation of its own, whoever's provider carries it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turnproof.judge.finding import Compared, Finding, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import Message, ToolResult

from .checks_children_beside import beside_turns
from .phrases import AMONG_THE_MESSAGES, ERROR_AND_MESSAGE, SENT_TEXTS
from .quoted_texts import Quote, answer_quotes, at_messages, at_text, sent_messages
from .steps import Step, operations_done
from .words import strings_in

TELLING = 4
"""Letters of a text that stands in another one for a reason."""

_CHILD_REFUSED = finding(
    "subagents/child-begins-empty/refused",
    "The session does not run a child.",
    "a turn of the child",
    ERROR_AND_MESSAGE,
)
_NOT_TOLD = finding(
    "subagents/child-begins-empty/prompt-missing",
    "The request of a child lacks a message to the child.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)
_OF_THE_PARENT = finding(
    "subagents/child-begins-empty/foreign-text",
    "The request of a child has a text of its parent.",
    "only texts of the child",
    "the text {observed} of its parent",
)


@check("subagents/child-begins-empty")
def child_begins_empty(view: View) -> Findings:
    """What it is told goes out, and nothing that its parent was told, answered, or got from other tools."""
    for step in operations_done(view, "child"):
        if (refusal := step.refusal) is not None:
            if _may_fail(step):
                continue
            yield _CHILD_REFUSED.of_error(step.at_event(refusal, "error"), refusal)
            continue
        for exchange in step.generated:
            wrong = list(_wrong_beginning(step, exchange, _told_beside(view, step)))
            yield from wrong
            if step.history_before and not wrong:
                yield Compared("requests of a child")


def _wrong_beginning(step: Step, exchange: Exchange, own: list[Quote]) -> Iterator[Finding]:
    sent = list(_texts(sent_messages(exchange)))
    if not _is_in_any(_child_task(step), sent):
        yield _NOT_TOLD(at_messages(exchange), expected=_child_task(step), observed=sent)
    for quote in _parent_quotes(step):
        if _is_in_any(quote.text, sent) and quote.text not in {one.text for one in own}:
            yield _OF_THE_PARENT(at_text(exchange, quote.text), observed=quote.text, related=(quote.place,))


_PARENT_CHANGED = finding(
    "subagents/parent-is-untouched/history-changed",
    "The history of a parent changes with the turn of its child.",
    "{expected}, as before",
    "{observed}",
)
_OF_THE_CHILD = finding(
    "subagents/parent-is-untouched/foreign-text",
    "The request of a parent has a text of its child.",
    "only texts of the parent",
    "the text {observed} of its child",
)
_PARENT_LACKS = finding(
    "subagents/parent-is-untouched/missing",
    "The request of a parent lacks a text that its session holds.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("subagents/parent-is-untouched")
def parent_is_untouched(view: View) -> Findings:
    """It holds what it held before, and no request of its own has what the child was told or answered."""
    childs: list[Quote] = []
    for step in operations_done(view, "child", "children", "turn"):
        if step.kind != "turn":
            childs += _child_quotes(step) or _told_now(view, step)
            for one in step.changes:
                yield _PARENT_CHANGED(
                    step.at_change(one), expected=one.expected, observed=one.observed, related=step.at_before()
                )
            if step.unchanged:
                yield Compared("histories beside a child")
            continue
        for exchange in step.generated:
            wrong = list(_wrong_parent(step, exchange, childs))
            yield from wrong
            if childs and not wrong:
                yield Compared("requests beside a child")


def _wrong_parent(step: Step, exchange: Exchange, childs: list[Quote]) -> Iterator[Finding]:
    sent = list(_texts(sent_messages(exchange)))
    for quote in childs:
        if _is_in_any(quote.text, sent):
            yield _OF_THE_CHILD(at_text(exchange, quote.text), observed=quote.text, related=(quote.place,))
    for quote in _parent_quotes(step) if childs and not step.collects else ():
        if not _is_in_any(quote.text, sent):
            yield _PARENT_LACKS(at_messages(exchange), expected=quote.text, observed=sent, related=(quote.place,))


_CHILD_LACKS = finding(
    "subagents/child-keeps-its-own/missing",
    "The request of a child lacks a text of the child's earlier turns.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)


@check("subagents/child-keeps-its-own")
def child_keeps_its_own(view: View) -> Findings:
    """Every request of it has what it was told, and answered, in its earlier turns."""
    earlier: list[Quote] = []
    for step in operations_done(view, "child"):
        earlier += _told_beside(view, step) if not earlier else []
        for exchange in step.generated:
            sent = list(_texts(sent_messages(exchange)))
            missing = [quote for quote in earlier if not _is_in_any(quote.text, sent)]
            for quote in missing:
                yield _CHILD_LACKS(at_messages(exchange), expected=quote.text, observed=sent, related=(quote.place,))
            if earlier and not missing:
                yield Compared("later turns of a child")
        earlier += _child_quotes(step) if step.answers else []


_FAILURE_LOST = finding(
    "subagents/failing-child-leaves-its-parent/lost",
    "The turn of a child failed, and its parent was not told.",
    "an error, for the API's answer with the status {expected}",
    "a turn of the child that ended without one",
)
_PARENT_FAILED = finding(
    "subagents/failing-child-leaves-its-parent/parent-failed",
    "The turn of a parent failed after that of its child had.",
    "an answer in the parent's next turn",
    "a turn that ended with {observed}",
)


@check("subagents/failing-child-leaves-its-parent", needs="wire")
def failing_child_leaves_its_parent(view: View) -> Findings:
    """The failure is raised where the child was asked, and the parent's own turn is answered."""
    for step in operations_done(view, "child"):
        failed = [one for one in step.generated if one.response is not None and one.response.status >= 400]
        if not _may_fail(step) or not failed:
            continue
        ended = step.turn.ended
        if step.refusal is None:
            yield _FAILURE_LOST(failed[0].at(Side.STREAM), expected=failed[0].response and failed[0].response.status)
        elif ended is not None and ended.outcome != "answer":
            yield _PARENT_FAILED(step.turn.at_end(), expected="answer", observed=ended.outcome)
        elif ended is not None:
            yield Compared("failures of a child")


def _may_fail(step: Step) -> bool:
    """Whether the scenario has the service refuse the child."""
    script = step.turn.script
    return script is not None and script.child is not None and script.child.expect == "error"


def _told_beside(view: View, step: Step) -> list[Quote]:
    """What the first child was told ahead of a step while others went on, and answered, as far as it ended so."""
    before = (one for one in beside_turns(view) if one.turn.index < step.turn.index and one.number == 0)
    return [quote for one in before if one.ended is not None and one.ended.outcome == "answer" for quote in one.quotes]


def _told_now(view: View, step: Step) -> list[Quote]:
    """What children are told that work beside others in a step, and answered."""
    return [quote for one in beside_turns(view) if one.turn is step.turn for quote in one.quotes]


def _child_task(step: Step) -> str:
    script = step.turn.script
    assert script is not None
    assert script.child is not None
    return Message("user", script.child.user).text


def _child_quotes(step: Step) -> list[Quote]:
    """What a child was told in a step alone, and answered."""
    if not step.generated:
        return []
    task = Quote(_child_task(step), at_text(step.generated[0], _child_task(step)))
    return [task, *answer_quotes(step.answers)]


def _parent_quotes(step: Step) -> Iterator[Quote]:
    """What was said in a conversation before a step, and what tools returned in words, as far as it stands nowhere else
    by chance."""
    for number, message in enumerate(step.history_before):
        found: list[tuple[str, tuple[str | int, ...]]] = [(message.text, (number,))]
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolResult) and isinstance(part.result, str):
                found.append((part.result, (number, "parts", place, "result")))
        for text, tokens in found:
            if len(text.strip()) >= TELLING:
                yield Quote(text, step.at_before(*tokens)[0])


def _is_in_any(text: str, sent: Iterable[str]) -> bool:
    return any(text in one for one in sent)


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """Every text in a request, those in results too: some APIs take nothing but objects there."""
    for message in messages:
        texts = (message.text, *(text for result in message.results for text in strings_in(result.result)))
        yield from filter(None, texts)
