"""Recovery: after a passing fault the turn goes on as if nothing had happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from turnproof.messages import FinishReason
from turnproof.requirements import Findings, check
from turnproof.verdict import violated
from turnproof.view import ProviderCall, TurnView, View
from turnproof.view.diff import differences, show

from .reading import calls_made, makes_room, results_in, too_long


def _attempts(view: View) -> Iterator[tuple[TurnView, ProviderCall, ProviderCall]]:
    """Each attempt that failed, with the next attempt at the same answer."""
    for turn in view.turns:
        for first, second in pairwise(turn.calls):
            if second.attempt == first.attempt + 1 and second.began.round == first.began.round and first.failed:
                yield turn, first, second


@check("recovery/turn-survives-a-passing-fault")
def turn_survives_a_passing_fault(view: View) -> Findings:
    """What the scenario lets go wrong once goes well the second time."""
    for turn in view.turns:
        if turn.script is None or not turn.script.faults or turn.script.expect != "answer" or turn.ended is None:
            continue
        if turn.ended.outcome == "answer":
            yield "turns with a passing fault"
        else:
            how = f"{turn.failed.error}: {turn.failed.message}" if turn.failed is not None else turn.ended.outcome
            kinds = ", ".join(sorted({fault.kind for fault in turn.script.faults}))
            yield violated(f"{turn.where}: after a passing fault ({kinds}) it ended with {how}")


@check("recovery/a-retried-request-is-the-same")
def a_retried_request_is_the_same(view: View) -> Findings:
    """The failed attempt leaves nothing in the next one, and takes nothing away."""
    for _, first, second in _attempts(view):
        if first.sent is None or second.sent is None or makes_room(first):
            continue
        forms = view.dialect.match_form(first.sent), view.dialect.match_form(second.sent)
        found = differences(*forms, names=("first attempt", "next attempt"))
        if found:
            yield violated(f"{second.where}: the repeated request is another one: {found[0]}", detail="\n".join(found))
        else:
            yield "repeated requests"


@check("recovery/results-go-out-once")
def results_go_out_once(view: View) -> Findings:
    """Sending results again must not send them twice."""
    for _, _, second in _attempts(view):
        if second.sent is None:
            continue
        counts = Counter(result.call_id for result in results_in(second.sent.messages))
        made = Counter(call.id for call in calls_made(second.sent.messages))
        double = sorted(name for name, times in counts.items() if times > max(1, made[name]))
        if double:
            yield violated(f"{second.where}: the repeated request has {counts[double[0]]} results for {double[0]!r}")
        elif counts:
            yield "results in repeated requests"


@check("recovery/text-is-shown-once")
def text_is_shown_once(view: View) -> Findings:
    """What was shown before the fault is not shown again by the attempt that goes well."""
    for turn in view.turns:
        for call in turn.calls:
            if not call.began.streamed or not call.chunks or call.last is None:
                continue
            shown = "".join(call.chunks)
            if call.last.fault is not None and shown.strip() not in call.last.text:
                yield violated(f"{call.where}: the wire carried {show(call.last.text)}, on_chunk got {show(shown)}")
        if any(True for _ in _retried(turn)) and turn.ended is not None and turn.ended.outcome == "answer":
            answers = "".join(call.response.text for call in turn.calls if call.response is not None)
            if turn.ended.shown == answers:
                yield "texts shown in turns with repeated attempts"
            else:
                yield violated(f"{turn.where}: the user saw {show(turn.ended.shown)}, the answer is {show(answers)}")


def _retried(turn: TurnView) -> Iterator[ProviderCall]:
    """Calls that showed text and had to be made again: by the session, or by the adapter below it."""
    return (
        call
        for call in turn.calls
        if call.began.streamed and call.chunks and (call.failed is not None or len(call.generated) > 1)
    )


@check("recovery/a-too-long-prompt-is-shortened")
def a_too_long_prompt_is_shortened(view: View) -> Findings:
    """The error is recognised as what it is, so that the session can make room and go on."""
    for turn in view.turns:
        for position, call in enumerate(turn.calls):
            expected = turn.script is not None and turn.script.expect == "error"
            if not too_long(call.last) or call.sent is None or expected:
                continue
            following = turn.calls[position + 1] if position + 1 < len(turn.calls) else None
            if following is None or following.sent is None:
                yield violated(f"{call.where}: the prompt was too long, and nothing shorter was sent")
            elif view.dialect.count(following.sent) >= view.dialect.count(call.sent):
                yield violated(f"{following.where}: the prompt was too long, and the next one is no shorter")
            elif following.response is not None and following.response.finish_reason is not FinishReason.ERROR:
                yield "prompts made shorter"
