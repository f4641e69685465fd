"""Tools that take longer than their turn: they go on in the background, and what they return is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from turnproof.judge.finding import Compared, Finding
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, ToolResult
from turnproof.run.transcript import ToolWentOn

from .phrases import OUTCOME_AND_FAILURE
from .steps import Step, failure, turns_done
from .words import strings_in, without_blanks


@dataclass(frozen=True)
class LateTool:
    """A tool that returns only when its turn is over, with the call that the session holds of it."""

    step: Step
    event: ToolWentOn
    call: FunctionCall | None

    @property
    def results_held(self) -> list[ToolResult]:
        """The results of that call in the session's history after the turn."""
        results = (result for message in self.step.history for result in message.results)
        return [result for result in results if self.call is not None and result.call_id == self.call.id]


def late_tools(view: View) -> Iterator[LateTool]:
    """The tools that returned only when their turn was over, in order."""
    for step in turns_done(view):
        event = step.first(ToolWentOn)
        if event is None:
            continue
        calls = [part for message in step.history for part in message.parts if isinstance(part, FunctionCall)]
        call = next((each for each in reversed(calls) if each.name == event.name), None)
        yield LateTool(step, event, call)


_WAITS = finding(
    "tools/slow-tools-go-on-in-the-background/waits",
    "A turn waits for a tool that may go on in the background.",
    "the end of the turn while the tool {tool} runs",
    "a turn that went on until the tool returned",
)
_STOPPED = finding(
    "tools/slow-tools-go-on-in-the-background/cancelled",
    "A tool in the background is cancelled when its turn ends.",
    "that the tool {tool} runs to its end",
    "that its token was set",
)
_TURN_FAILED = finding(
    "tools/slow-tools-go-on-in-the-background/turn-failed",
    "A turn fails in which a tool goes on in the background.",
    "answer",
    OUTCOME_AND_FAILURE,
)
_NOT_ONE_RESULT = finding(
    "tools/slow-tools-go-on-in-the-background/result-count",
    "The call of a tool in the background does not have one result.",
    "{expected} result of the call {call}",
)


@check("tools/slow-tools-go-on-in-the-background", needs="wire")
def slow_tools_go_on_in_the_background(view: View) -> Findings:
    """The turn ends while the tool runs, its call has one result, and nobody cancels the tool."""
    for late in late_tools(view):
        wrong = list(_held_up(late))
        yield from wrong
        if not wrong:
            yield Compared("tools in the background")


def _held_up(late: LateTool) -> Iterator[Finding]:
    step, event = late.step, late.event
    if event.waited:
        yield _WAITS(step.at_event(event), tool=event.name)
        return
    if event.cancelled:
        yield _STOPPED(step.at_event(event), tool=event.name)
    ended = step.turn.ended
    if ended is not None and ended.outcome != "answer":
        yield _TURN_FAILED(step.turn.at_end(), observed=ended.outcome, failure=failure(step.turn))
    elif late.call is not None and (count := len(late.results_held)) != 1:
        yield _NOT_ONE_RESULT(step.at_history(), expected=1, observed=count, call=late.call.id)


_RESULT_LOST = finding(
    "tools/background-results-are-kept/lost",
    "What a tool in the background returned is lost.",
    "a result of the call {call}",
    "results of {observed}",
)
_OTHER = finding(
    "tools/background-results-are-kept/other-result",
    "A tool in the background returned something else than the session tells.",
    "the text {expected}",
    "{observed}",
)


@check("tools/background-results-are-kept", needs="wire")
def background_results_are_kept(view: View) -> Findings:
    """What the tool returned in the end is there, under the id of its call."""
    for late in late_tools(view):
        script = late.step.turn.script
        if late.event.waited or late.event.cancelled or late.call is None or script is None:
            continue
        expected = script.results[late.event.name].for_args(dict(late.call.args)).result
        own_results = [one for one in late.event.results if one.call_id == late.call.id]
        if not own_results:
            others = [one.call_id for one in late.event.results]
            yield _RESULT_LOST(late.step.at_event(late.event), call=late.call.id, observed=others)
        elif without_blanks(strings_in(expected)) not in without_blanks(strings_in(own_results[-1].result)):
            yield _OTHER(late.step.at_event(late.event), expected=expected, observed=own_results[-1].result)
        else:
            yield Compared("results of tools in the background")
