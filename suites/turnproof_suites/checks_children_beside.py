"""Children that are under way while others are: their siblings, or their parent. On the wire and by how they ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import FindingCode, Findings, check, finding
from turnproof.judge.view import Exchange, TurnView, View
from turnproof.run.transcript import ChildEnded, Refused
from turnproof.scenarios.model import Turn

from .content import spoken_text
from .phrases import AMONG_THE_MESSAGES, SENT_TEXTS
from .quoted_texts import Quote, answer_quotes, at_messages, at_text, sent_messages
from .steps import steps
from .words import strings_in, without_blanks


@dataclass(frozen=True)
class BesideTurn:
    """A turn of a child that others went on beside: what it was told, what it sent, and how it ended."""

    view: View
    turn: TurnView
    number: int
    script: Turn

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Its requests for an answer."""
        return self.view.child_exchanges(self.turn.index, self.number)

    @cached_property
    def ended(self) -> ChildEnded | None:
        """How it ended; None where the session refused to have the child."""
        found = (event for event in self.turn.events if isinstance(event, ChildEnded))
        return next((event for event in found if event.child == self.number), None)

    @property
    def task(self) -> str:
        """What the child is told."""
        return self.script.text

    @property
    def at_task(self) -> Place:
        """Where it was told so."""
        return at_text(self.exchanges[0], self.task) if self.exchanges else self.turn.at()

    @property
    def at_end(self) -> Place:
        """How it ended."""
        return self.turn.at() if self.ended is None else self.turn.at_event(self.ended, "outcome")

    @property
    def quotes(self) -> list[Quote]:
        """What the child was told, and answered."""
        return [Quote(self.task, self.at_task), *answer_quotes(self.exchanges)]


def beside_turns(view: View) -> Iterator[BesideTurn]:
    """The turns of children that others went on beside, in order."""
    for turn in view.turns:
        for number, script in enumerate(turn.script.beside_parent if turn.script is not None else ()):
            yield BesideTurn(view, turn, number, script)


# -- several at the same time ------------------------------------------------------------------------------------------

_AT_ONCE_NOT_TOLD = finding(
    "subagents/children-at-once-stay-apart/prompt-missing",
    "The request of a child lacks a message to it, while other children are at work.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)
_AT_ONCE_FOREIGN = finding(
    "subagents/children-at-once-stay-apart/foreign-text",
    "The request of a child has a text of another child.",
    "only texts of the child",
    "the text {observed} of another child",
)
_AT_ONCE_FORGOTTEN = finding(
    "subagents/children-at-once-stay-apart/missing",
    "The request of a child lacks a text of its earlier turn, in which other children were at work.",
    AMONG_THE_MESSAGES,
    SENT_TEXTS,
)
_AT_ONCE_FAILED = finding(
    "subagents/children-at-once-stay-apart/failed",
    "The turn of a child fails while other children are at work.",
    "an answer",
    "{observed}",
)
_AT_ONCE_OTHER = finding(
    "subagents/children-at-once-stay-apart/other-answer",
    "A child returns another text than the service answered it, while other children are at work.",
    "the text {expected}",
    "the text {observed}",
)


@check("subagents/children-at-once-stay-apart", needs="wire")
def children_at_once_stay_apart(view: View) -> Findings:
    """Each child sends what it was told and holds, nothing of another child, and returns its own answer."""
    earlier: dict[int, list[Quote]] = {}
    for turn in view.turns:
        siblings = [one for one in beside_turns(view) if one.turn is turn]
        if len(siblings) < 2:
            continue
        for one in siblings:
            others = [quote for other in siblings if other is not one for quote in other.quotes]
            others += [quote for number, quotes in earlier.items() if number != one.number for quote in quotes]
            wrong = [
                *_wrong_texts(one, others, earlier.get(one.number, [])),
                *_wrong_end(one, _AT_ONCE_FAILED, _AT_ONCE_OTHER),
            ]
            yield from wrong
            if not wrong and one.ended is not None:
                yield Compared("turns of children at work at the same time")
        for one in siblings:
            earlier.setdefault(one.number, []).extend(one.quotes)


def _wrong_texts(one: BesideTurn, others: list[Quote], earlier: list[Quote]) -> Iterator[Finding]:
    own = {quote.text for quote in (*one.quotes, *earlier)}
    for exchange in one.exchanges:
        sent = [message.text for message in sent_messages(exchange) if message.text]
        if not _in_any(one.task, sent):
            yield _AT_ONCE_NOT_TOLD(at_messages(exchange), expected=one.task, observed=sent)
        for quote in others:
            if quote.text not in own and _in_any(quote.text, sent):
                yield _AT_ONCE_FOREIGN(at_text(exchange, quote.text), observed=quote.text, related=(quote.place,))
        for quote in earlier:
            if not _in_any(quote.text, sent):
                yield _AT_ONCE_FORGOTTEN(
                    at_messages(exchange), expected=quote.text, observed=sent, related=(quote.place,)
                )


_ONE_BY_ONE = finding(
    "subagents/children-work-at-once/waits",
    "A child asks only when another child has its answer.",
    "the requests of all children ahead of the first answer",
    "no request of child {child}",
)


@check("subagents/children-work-at-once", needs="wire")
def children_work_at_once(view: View) -> Findings:
    """The service answers none before all have asked."""
    for one in beside_turns(view):
        if not one.turn.script or not one.turn.script.children or one.ended is None or not one.exchanges:
            continue
        if one.ended.asked:
            yield Compared("requests of children at work at the same time")
        else:
            yield _ONE_BY_ONE(one.turn.at_event(one.ended), child=one.number)


# -- in a tool of the parent -------------------------------------------------------------------------------------------

_IN_TOOL_FAILED = finding(
    "subagents/a-tool-can-ask-a-child/failed",
    "The turn of a child fails that a tool of its parent asks.",
    "an answer",
    "{observed}",
)
_IN_TOOL_OTHER = finding(
    "subagents/a-tool-can-ask-a-child/other-answer",
    "A child returns another text to the tool than the service answered it.",
    "the text {expected}",
    "the text {observed}",
)
_IN_TOOL_FOREIGN = finding(
    "subagents/a-tool-can-ask-a-child/foreign-text",
    "The request of a child has a text of the parent's turn in which a tool asks it.",
    "only texts of the child",
    "the text {observed} of its parent",
)
_IN_TOOL_LOST = finding(
    "subagents/a-tool-can-ask-a-child/result-missing",
    "The parent's next request lacks what a child answered to its tool.",
    "{expected} in a result",
    "{observed}",
)


@check("subagents/a-tool-can-ask-a-child", needs="wire")
def a_tool_can_ask_a_child(view: View) -> Findings:
    """The child sends what it was told alone, and what it answers is the tool's result in its parent's next request."""
    for one in _in_tools(view):
        if one.turn.cut is not None or one.ended is None:
            continue
        wrong = list(_wrong_end(one, _IN_TOOL_FAILED, _IN_TOOL_OTHER))
        for exchange in one.exchanges:
            sent = [message.text for message in sent_messages(exchange) if message.text]
            if _in_any(one.turn.user_text, sent):
                place = at_text(exchange, one.turn.user_text)
                wrong.append(_IN_TOOL_FOREIGN(place, observed=one.turn.user_text))
        if not wrong:
            wrong += _lost_result(one)
        yield from wrong
        if not wrong:
            yield Compared("children that a tool asks")


def _lost_result(one: BesideTurn) -> Iterator[Finding]:
    """What the parent's request behind the tool has in place of the child's answer."""
    parents = _parents_requests(one)
    with_results = next((each for each in parents if any(message.results for message in sent_messages(each))), None)
    if with_results is None or one.ended is None:
        return
    results = [result.result for message in sent_messages(with_results) for result in message.results]
    if without_blanks([one.ended.text]) not in without_blanks(text for each in results for text in strings_in(each)):
        yield _IN_TOOL_LOST(at_messages(with_results), expected=one.ended.text, observed=results)


def _parents_requests(one: BesideTurn) -> list[Exchange]:
    step = next((step for step in steps(one.view) if step.turn is one.turn and step.kind == "turn"), None)
    return list(step.generated) if step is not None else []


def _in_tools(view: View) -> Iterator[BesideTurn]:
    """The turns of children that a tool asks for."""
    for one in beside_turns(view):
        if one.turn.script is not None and one.turn.script.child_tool is not None:
            yield one


# -- a parent that is cancelled ----------------------------------------------------------------------------------------

_GOES_ON = finding(
    "subagents/a-cancelled-parent-stops-its-child/goes-on",
    "A child that works for a cancelled turn does not leave its answer.",
    "that it closes the stream",
    "a stream that it kept open until the service went on with it",
)
_ASKS_ON = finding(
    "subagents/a-cancelled-parent-stops-its-child/asks-on",
    "A child makes another request after the turn for which it works was cancelled.",
    "no request of the child behind the cancel",
    "a request",
)
_PARENT_GOES_ON = finding(
    "subagents/a-cancelled-parent-stops-its-child/parent-goes-on",
    "A turn that was cancelled while a child worked for it does not end as cancelled.",
    "a cancelled turn",
    "a turn that ended with {observed}",
)


@check("subagents/a-cancelled-parent-stops-its-child", needs="wire")
def a_cancelled_parent_stops_its_child(view: View) -> Findings:
    """The child leaves the answer that it is given, asks for no other one, and its parent's turn ends as cancelled."""
    for one in _in_tools(view):
        held_number = next((number for number, each in enumerate(one.exchanges) if each.held), None)
        if not one.turn.cancelled or held_number is None:
            continue
        response = one.exchanges[held_number].response
        wrong: list[Finding] = []
        if response is not None and response.released == "limit":
            wrong.append(_GOES_ON(one.exchanges[held_number].at(Side.STREAM)))
        wrong += [_ASKS_ON(each.at(Side.REQUEST)) for each in one.exchanges[held_number + 1 :]]
        if one.turn.ended is not None and one.turn.ended.outcome != "cancelled":
            wrong.append(_PARENT_GOES_ON(one.turn.at_end(), observed=one.turn.ended.outcome))
        yield from wrong
        if not wrong:
            yield Compared("children of cancelled turns")


# -- a child that takes longer -----------------------------------------------------------------------------------------

_PARENT_WAITS = finding(
    "subagents/a-child-can-outlive-a-turn/parent-waits",
    "The turn of a parent ends only when that of its child has.",
    "an answer to the parent while the child waits for its own",
    "a turn that went on for as long as the child waited",
)
_OUTLIVED = finding(
    "subagents/a-child-can-outlive-a-turn/parent-failed",
    "The turn of a parent fails while a child is at work.",
    "an answer",
    "a turn that ended with {observed}",
)
_OUTLIVING_FAILED = finding(
    "subagents/a-child-can-outlive-a-turn/failed",
    "The turn of a child fails that goes on behind a turn of its parent.",
    "an answer",
    "{observed}",
)
_OUTLIVING_OTHER = finding(
    "subagents/a-child-can-outlive-a-turn/other-answer",
    "A child returns another text than the service answered it, behind a turn of its parent.",
    "the text {expected}",
    "the text {observed}",
)
_OF_AN_OUTLIVING_CHILD = finding(
    "subagents/a-child-can-outlive-a-turn/foreign-text",
    "The request of a parent has a text of a child that is at work.",
    "only texts of the parent",
    "the text {observed} of its child",
)


@check("subagents/a-child-can-outlive-a-turn", needs="wire")
def a_child_can_outlive_a_turn(view: View) -> Findings:
    """The parent is answered meanwhile, without a word of the child, and the child gets its own answer behind it."""
    for one in beside_turns(view):
        if one.turn.script is None or not one.turn.script.child_outlives or one.ended is None or not one.exchanges:
            continue
        wrong = list(_wrong_end(one, _OUTLIVING_FAILED, _OUTLIVING_OTHER))
        response = one.exchanges[0].response
        if response is not None and response.released == "limit":
            wrong.append(_PARENT_WAITS(one.turn.at_end()))
        if one.turn.ended is not None and one.turn.ended.outcome != "answer":
            wrong.append(_OUTLIVED(one.turn.at_end(), observed=one.turn.ended.outcome))
        for exchange in _parents_requests(one):
            sent = [message.text for message in sent_messages(exchange) if message.text]
            for quote in one.quotes:
                if _in_any(quote.text, sent):
                    place = at_text(exchange, quote.text)
                    wrong.append(_OF_AN_OUTLIVING_CHILD(place, observed=quote.text, related=(quote.place,)))
        yield from wrong
        if not wrong:
            yield Compared("children that outlive a turn")


# -- for all of them ---------------------------------------------------------------------------------------------------


def _wrong_end(one: BesideTurn, failed: FindingCode, other: FindingCode) -> Iterator[Finding]:
    """What is wrong with how a child ended whose service answered it."""
    ended = one.ended
    if ended is None:
        refused = next((event for event in one.turn.events if isinstance(event, Refused)), None)
        if refused is not None:
            yield failed(one.turn.at_event(refused, "error"), observed=f"{refused.error}: {refused.message}")
        return
    if ended.outcome != "answer":
        how = f"{ended.error}: {ended.message}" if ended.error else f"a turn that ended with {ended.outcome}"
        yield failed(one.at_end, observed=how)
        return
    answer = next((each.answer for each in reversed(one.exchanges) if each.clean and each.answer is not None), None)
    if answer is not None and not ended.text.strip().endswith(spoken_text(answer.parts).strip()):
        place = one.turn.at_event(ended, "text")
        yield other(place, expected=spoken_text(answer.parts), observed=ended.text)


def _in_any(text: str, sent: list[str]) -> bool:
    return any(text in one for one in sent)
