"""Children of a session: each has a conversation of its own, whoever's provider carries it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from turnproof.messages import JSON, Message
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import Exchange, View
from turnproof.view.diff import show

from .steps import Step, change, operations_done

TELLING = 4
"""Letters of a text that stands in another one for a reason."""


@check("subagents/child-begins-empty")
def child_begins_empty(view: View) -> Findings:
    """What it is told goes out, and nothing that its parent was told, answered, or got from tools."""
    for step in operations_done(view, "child"):
        if step.refusal is not None:
            yield violated(f"{step.where}: it was refused: {step.refusal.message}")
            continue
        for exchange in step.generated:
            sent = list(_texts(_sent(exchange)))
            strange = next((text for text in _said(step.before) if any(text in one for one in sent)), None)
            if not any(_told(step) in one for one in sent):
                yield violated(f"{step.where}: the child was told {show(_told(step))}, which is not in its request")
            elif strange is not None:
                yield violated(f"{step.where}: the child's request has {show(strange)}, which is its parent's")
            elif step.before:
                yield "requests of a child"


@check("subagents/parent-is-untouched")
def parent_is_untouched(view: View) -> Findings:
    """It holds what it held before, and no request of its own has what the child was told or answered."""
    childs: list[str] = []
    for step in operations_done(view, "child", "turn"):
        if step.done == "child":
            childs += [_told(step), *step.answered_text]
            if step.unchanged:
                yield "histories beside a child"
            else:
                yield violated(f"{step.where}: the parent holds something else: {change(step.before, step.held)}")
            continue
        for exchange in step.generated:
            sent = list(_texts(_sent(exchange)))
            strange = next((text for text in childs if any(text in one for one in sent)), None)
            lost = next((text for text in _said(step.before) if not any(text in one for one in sent)), None)
            if strange is not None:
                yield violated(f"{step.where}: the parent's request has {show(strange)}, which is its child's")
            elif childs and lost is not None and not step.collects:
                yield violated(f"{step.where}: {show(lost)} is held, and not in the request after a child's turn")
            elif childs:
                yield "requests beside a child"


@check("subagents/child-keeps-its-own")
def child_keeps_its_own(view: View) -> Findings:
    """Every request of it has what it was told, and answered, in its earlier turns."""
    earlier: list[str] = []
    for step in operations_done(view, "child"):
        for exchange in step.generated:
            sent = list(_texts(_sent(exchange)))
            lost = next((text for text in earlier if not any(text in one for one in sent)), None)
            if lost is not None:
                yield violated(f"{step.where}: {show(lost)} was said in the child's earlier turns, and is not sent")
            elif earlier:
                yield "later turns of a child"
        earlier += [_told(step), *step.answered_text] if step.answers else []


def _told(step: Step) -> str:
    script = step.turn.script
    assert script is not None
    assert script.child is not None
    return Message("user", script.child.user).text


def _sent(exchange: Exchange) -> tuple[Message, ...]:
    return exchange.call.messages if exchange.call is not None else ()


def _said(messages: Iterable[Message]) -> Iterator[str]:
    """What was said in a conversation, and what tools returned in words, as far as it stands nowhere else by chance."""
    for message in messages:
        found = [message.text, *(one.result for one in message.results if isinstance(one.result, str))]
        yield from (text for text in found if len(text.strip()) >= TELLING)


def _texts(messages: Iterable[Message]) -> Iterator[str]:
    """Every text in a request, those in results too: some APIs take nothing but objects there."""
    for message in messages:
        yield message.text
        yield from (text for result in message.results for text in _words(result.result))


def _words(value: JSON) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            yield from (text for inner in value.values() for text in _words(inner))
        case list() | tuple():
            yield from (text for inner in value for text in _words(inner))
