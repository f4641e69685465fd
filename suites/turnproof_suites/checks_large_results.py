"""Tool results that are larger than the model's window: what of them goes out, and what is held afterwards.

Results are told apart by what they say: sessions and dialects are free in how they name them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec

from turnproof.messages import FunctionCall, Message, to_builtins
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import Exchange, View
from turnproof.view.diff import show

from .reading import calls_made, results_in, too_long
from .steps import Step, turns_done

_TELLING = 200
"""Characters from which on a result is told by what it says: short ones may well come twice."""

_IN_A_ROW = 3
"""Overflows in a row that leave no doubt. A second one may follow from a result that is larger than the first."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class _Overflow:
    """A prompt with results that was refused as too long: `taken` is what went out in its place and was accepted."""

    step: Step
    refused: Exchange
    taken: Exchange | None

    @property
    def rejected(self) -> frozenset[str]:
        """What the results to be sent had said, and do not say in what was accepted."""
        return frozenset(_texts(_newest(self.refused))) - frozenset(_said(self.taken))


@check("recovery/results-are-cut-to-fit")
def results_are_cut_to_fit(view: View) -> Findings:
    """The calls that were pending are still answered, with part of their results and a word about the rest."""
    for step in turns_done(view):
        for group in _rounds(step.generated):
            overflow = _overflow(step, group)
            if overflow is not None and step.turn.normal:
                yield from _cut(overflow)


def _cut(overflow: _Overflow) -> Findings:
    where, refused, taken = overflow.step.where, overflow.refused, overflow.taken
    if taken is None or taken.call is None or refused.call is None:
        yield violated(f"{where}: the prompt with the tool results was too long, and nothing that fits was sent")
        return
    sent = taken.call.messages
    made = Counter(call.id for call in calls_made(sent))
    answered = Counter(result.call_id for result in results_in(sent))
    lost = Counter(map(_asked, _pending(refused))) - Counter(map(_asked, calls_made(sent)))
    if lost:
        yield violated(
            f"{where}: the call {next(iter(lost))}, whose result was too long, is not in the request that fits"
        )
    elif made != answered:
        alone = next(iter((made - answered) + (answered - made)))
        yield violated(f"{where}: the request that fits has {answered[alone]} results for {made[alone]} {alone!r}")
    elif overflow.rejected:
        yield from _with_a_notice(overflow)


def _with_a_notice(overflow: _Overflow) -> Findings:
    before = _said(overflow.refused)
    for text in _said(overflow.taken):
        if text in before:
            continue
        whole = next((one for one in before if text in one), None)
        if whole is None:
            yield "cut results"
        else:
            yield violated(
                f"{overflow.step.where}: {len(text)} of the {len(whole)} characters of a result were sent, and nothing "
                f"says so: {show(text)}"
            )


@check("recovery/rejected-results-are-gone")
def rejected_results_are_gone(view: View) -> Findings:
    """What was too long is in no later request and not in what is held, beside the cut result or in its place."""
    gone: set[str] = set()
    for step in turns_done(view):
        for group in _rounds(step.generated):
            # Another call may well have the same result.
            gone -= set(_texts(_newest(group[0])))
            later = group
            if (overflow := _overflow(step, group)) is not None and overflow.taken is not None:
                later = [one for one in group if one is overflow.taken or gone & set(_said(one))]
                gone |= {text for text in overflow.rejected if len(text) >= _TELLING}
            for one in later:
                if gone & set(_said(one)):
                    yield violated(
                        f"{step.where}, request {one.number}: a result that had been refused as too long is in it"
                    )
        if not gone:
            continue
        results, calls = results_in(step.held), calls_made(step.held)
        if gone & set(_texts(step.held)):
            yield violated(f"{step.where}: a result that had been refused as too long is held")
        elif len(results) != len(calls):
            yield violated(f"{step.where}: after results were cut, {len(results)} are held for {len(calls)} calls")
        else:
            yield "turns after results were cut"


@check("gc/headroom-is-left")
def headroom_is_left(view: View) -> Findings:
    """Once room has been made, not every further result overflows."""
    for step in turns_done(view):
        overflows = [_overflow(step, group) is not None for group in _rounds(step.generated)]
        since = overflows[overflows.index(True) :] if True in overflows else []
        if len(since) < _IN_A_ROW:
            continue
        longest = max(len(list(run)) for overflowed, run in groupby(since) if overflowed)
        if longest < _IN_A_ROW:
            yield "tool rounds after an overflow"
        else:
            yield violated(f"{step.where}: the prompt was too long in {longest} rounds in a row; too little was freed")


def _rounds(exchanges: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """The requests for each answer: those that were refused as too long, and the one that was not."""
    group: list[Exchange] = []
    for one in exchanges:
        group.append(one)
        if not too_long(one):
            yield group
            group = []
    if group:
        yield group


def _overflow(step: Step, group: Sequence[Exchange]) -> _Overflow | None:
    refused = next((one for one in group if too_long(one) and _pending(one)), None)
    if refused is None:
        return None
    last = group[-1]
    return _Overflow(step, refused, None if too_long(last) or last.refusals else last)


def _newest(exchange: Exchange) -> Sequence[Message]:
    """The last message, if it brings results."""
    messages = exchange.call.messages if exchange.call is not None else ()
    return [message for message in messages[-1:] if message.results]


def _pending(exchange: Exchange) -> Sequence[FunctionCall]:
    """The calls that its last message answers."""
    if exchange.call is None or not _newest(exchange):
        return ()
    return next((message.calls for message in reversed(exchange.call.messages) if message.calls), ())


def _asked(call: FunctionCall) -> str:
    return f"{call.name}({_encode(to_builtins(call.args)).decode()})"


def _said(exchange: Exchange | None) -> list[str]:
    return _texts(exchange.call.messages) if exchange is not None and exchange.call is not None else []


def _texts(messages: Iterable[Message]) -> list[str]:
    """What each result says."""
    return [
        one.result if isinstance(one.result, str) else _encode(to_builtins(one.result)).decode()
        for one in results_in(messages)
    ]
