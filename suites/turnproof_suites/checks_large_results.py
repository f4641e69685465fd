"""Tool results that are larger than the model's window: what of them goes out, and what is held afterwards.

Results are told apart by what they say: sessions and dialects are free in how they name them.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, groupby

import msgspec

from turnproof.judge.finding import Compared, Finding, Place, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import FunctionCall, Message, ToolResult, to_builtins

from .content import calls_made, results_in
from .context_room import too_long
from .steps import Step, turns_done

_TELLING = 200
"""Characters from which on a result is told by what it says: short ones may well come twice."""

_IN_A_ROW = 3
"""Overflows in a row that leave no doubt. A second one may follow from a result that is larger than the first."""

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class _Overflow:
    """A prompt with results that was refused as too long: `accepted` is what went out in its place and was accepted."""

    step: Step
    refused: Exchange
    accepted: Exchange | None

    @property
    def rejected(self) -> frozenset[str]:
        """What the results to be sent had said, and do not say in what was accepted."""
        return frozenset(_texts(_newest(self.refused))) - frozenset(_request_texts(self.accepted))


_NOTHING_FITS = finding(
    "recovery/results-are-cut-to-fit/not-sent",
    "The prompt with the tool results was too long, and nothing that fits was sent.",
    "a request that the API accepts after this one",
    "none",
)
_CALL_LOST = finding(
    "recovery/results-are-cut-to-fit/call-missing",
    "A call whose result was too long is missing from the request that fits.",
    "the call {call:words}",
    "a request without it",
)
_RESULT_COUNT = finding(
    "recovery/results-are-cut-to-fit/result-count",
    "The request that fits does not have one result for each tool call.",
    "{expected} as the number of results for the call {call}",
)
_NO_NOTICE = finding(
    "recovery/results-are-cut-to-fit/no-notice",
    "Part of a result was sent without a mark.",
    "a mark about the rest, next to {sent} of {whole} characters",
    "{observed}",
)


@check("recovery/results-are-cut-to-fit")
def results_are_cut_to_fit(view: View) -> Findings:
    """The calls that were pending are still answered, with part of their results and a word about the rest."""
    for step in turns_done(view):
        for group in _rounds(step.generated):
            overflow = _overflow(step, group)
            if overflow is not None and step.turn.normal:
                yield from _cut_findings(overflow)


def _cut_findings(overflow: _Overflow) -> Findings:
    refused, accepted = overflow.refused, overflow.accepted
    if accepted is None or accepted.call is None or refused.call is None:
        yield _NOTHING_FITS(refused.at(), related=(refused.at_error(),))
        return
    wrong = [*_lost_calls(refused, accepted), *_unpaired(accepted)]
    yield from wrong
    if not wrong and overflow.rejected:
        yield from _with_a_notice(overflow.refused, accepted)


def _lost_calls(refused: Exchange, accepted: Exchange) -> Iterator[Finding]:
    """The calls whose results were too long and that the request which fits does not have."""
    left = Counter(map(_call_text, _calls(accepted)))
    for call in _pending(refused):
        if left[_call_text(call)]:
            left[_call_text(call)] -= 1
        else:
            yield _CALL_LOST(accepted.at_read("messages"), related=(_at(refused, call),), call=_call_text(call))


def _unpaired(accepted: Exchange) -> Iterator[Finding]:
    """The calls that have more or fewer results than one for each time they stand there."""
    calls, results = _calls(accepted), _results(accepted)
    call_counts = Counter(call.id for call in calls)
    result_counts = Counter(result.call_id for result in results)
    for name in (call_counts - result_counts) + (result_counts - call_counts):
        parts: list[FunctionCall | ToolResult] = [result for result in results if result.call_id == name]
        parts += [call for call in calls if call.id == name]
        yield _RESULT_COUNT(
            _at(accepted, parts[0]), expected=call_counts[name], observed=result_counts[name], call=name
        )


def _with_a_notice(refused: Exchange, accepted: Exchange) -> Findings:
    before = [_text(result) for result in _results(refused)]
    for result in _results(accepted):
        text = _text(result)
        if text in before:
            continue
        number, whole_text = next(((n, one) for n, one in enumerate(before) if text in one), (0, None))
        if whole_text is None:
            yield Compared("cut results")
        else:
            yield _NO_NOTICE(
                _at(accepted, result, "result"),
                observed=text,
                related=(_at(refused, _results(refused)[number], "result"),),
                sent=len(text),
                whole=len(whole_text),
            )


_SENT_AGAIN = finding(
    "recovery/rejected-results-are-gone/sent-again",
    "A result that was refused as too long is in a later request.",
    "a request without the refused result",
)
_STILL_HELD = finding(
    "recovery/rejected-results-are-gone/held",
    "A result that was refused as too long is still in the session's history.",
    "a history without the refused result",
)
_HELD_COUNT = finding(
    "recovery/rejected-results-are-gone/result-count",
    "After results were cut, the session holds more or fewer results than tool calls.",
    "as many results as calls, {expected}",
)


@check("recovery/rejected-results-are-gone")
def rejected_results_are_gone(view: View) -> Findings:
    """What was too long is in no later request and not in what is held, beside the cut result or in its place."""
    rejected_texts: set[str] = set()
    for step in turns_done(view):
        for group in _rounds(step.generated):
            # Another call may well have the same result.
            rejected_texts -= set(_texts(_newest(group[0])))
            later = group
            if (overflow := _overflow(step, group)) is not None and overflow.accepted is not None:
                later = [one for one in group if one is overflow.accepted or rejected_texts & set(_request_texts(one))]
                rejected_texts |= {text for text in overflow.rejected if len(text) >= _TELLING}
            for one in later:
                for result in _results(one):
                    if _text(result) in rejected_texts:
                        yield _SENT_AGAIN(_at(one, result), observed=_text(result))
        if rejected_texts:
            yield from _held_after_a_cut(step, rejected_texts)


def _held_after_a_cut(step: Step, rejected_texts: set[str]) -> Findings:
    """Whether the session holds none of these results any more, and as many others as it has calls."""
    is_any_held = False
    for number, message in enumerate(step.history):
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolResult) and _text(part) in rejected_texts:
                is_any_held = True
                place_held = step.turn.at(Side.HISTORY, "session", number, "parts", place)
                yield _STILL_HELD(place_held, observed=_text(part))
    if is_any_held:
        return
    results, calls = len(results_in(step.history)), len(calls_made(step.history))
    if results != calls:
        yield _HELD_COUNT(step.turn.at(Side.HISTORY, "session"), expected=calls, observed=results)
    else:
        yield Compared("turns after results were cut")


_NO_HEADROOM = finding(
    "gc/headroom-is-left/too-little",
    "The prompt was too long again and again, because too little room was made.",
    "fewer than {expected} rounds in a row with a prompt that is too long",
)


@check("gc/headroom-is-left")
def headroom_is_left(view: View) -> Findings:
    """Once room has been made, not every further result overflows."""
    for step in turns_done(view):
        overflows = [_overflow(step, group) for group in _rounds(step.generated)]
        if len(list(dropwhile(operator.not_, overflows))) < _IN_A_ROW:
            continue
        runs = [list(run) for overflowed, run in groupby(overflows, key=bool) if overflowed]
        longest = [found.refused for found in max(runs, key=len) if found is not None]
        if len(longest) < _IN_A_ROW:
            yield Compared("tool rounds after an overflow")
        else:
            yield _NO_HEADROOM(
                longest[-1].at(), expected=_IN_A_ROW, observed=len(longest), related=[one.at() for one in longest[:-1]]
            )


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


def _call_text(call: FunctionCall) -> str:
    return f"{call.name}({_encode(to_builtins(call.args)).decode()})"


def _calls(exchange: Exchange) -> tuple[FunctionCall, ...]:
    return calls_made(exchange.call.messages) if exchange.call is not None else ()


def _results(exchange: Exchange) -> tuple[ToolResult, ...]:
    return results_in(exchange.call.messages) if exchange.call is not None else ()


def _at(exchange: Exchange, part: FunctionCall | ToolResult, *field: str) -> Place:
    """The place of a part of a request in its body."""
    for number, message in enumerate(exchange.call.messages if exchange.call is not None else ()):
        for place, one in enumerate(message.parts):
            if one is part:
                return exchange.at_read("messages", number, "parts", place, *field)
    return exchange.at()


def _request_texts(exchange: Exchange | None) -> list[str]:
    return _texts(exchange.call.messages) if exchange is not None and exchange.call is not None else []


def _texts(messages: Iterable[Message]) -> list[str]:
    """What each result says."""
    return [_text(one) for one in results_in(messages)]


def _text(result: ToolResult) -> str:
    return result.result if isinstance(result.result, str) else _encode(to_builtins(result.result)).decode()
