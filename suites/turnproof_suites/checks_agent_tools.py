"""Tools of an agent: each call runs once, its result reaches the model, and what is denied does not run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.judge.finding import Compared, Finding
from turnproof.judge.requirements import Findings, check, finding, findings_or_compared
from turnproof.judge.view import View
from turnproof.judge.view.diff import equal
from turnproof.messages import JSON, FunctionCall, thaw
from turnproof.run.transcript import ToolRun

from .agent_runs import AgentTurn, agent_turns, ordinary_turns
from .content import results_in
from .phrases import OUTCOME_AND_FAILURE
from .quoted_texts import at_messages, sent_messages
from .steps import failure, outcome
from .words import strings_in, without_blanks

_NOT_RUN = finding(
    "sessions/calls-run-once/not-run",
    "A tool call of the model did not run.",
    "one run for the call {expected}",
    "none",
)
_NOT_CALLED = finding(
    "sessions/calls-run-once/not-called",
    "A tool ran without a call of the model, or more often than it was called.",
    "one run for each of the calls {calls}",
    "another run, {observed}",
)
_OTHER_ARGUMENTS = finding(
    "sessions/calls-run-once/arguments-changed",
    "A tool ran with other arguments than those of its call.",
    "the tool {tool} with the arguments {expected}",
    "{observed}",
)


@check("sessions/calls-run-once", needs="wire")
def calls_run_once(view: View) -> Findings:
    """Each call that the model made, with its own arguments, and no other."""
    for turn, script in ordinary_turns(view):
        known = {tool.name for tool in view.scenario.tools_in(turn.view.index)} - set(script.denied)
        parts = (part.part for round_ in script.rounds for part in round_.parts)
        calls = [part for part in parts if isinstance(part, FunctionCall) and part.name in known]
        runs = [run for run in turn.view.tool_runs if run.name in known]
        if not calls and not runs:
            continue
        wrong = list(_wrong_runs(turn, calls, runs))
        yield from findings_or_compared(wrong, "calls of agents")


def _wrong_runs(turn: AgentTurn, scripted_calls: Sequence[FunctionCall], runs: Sequence[ToolRun]) -> Iterator[Finding]:
    """Calls and runs that have no counterpart; a call and a run of one tool belong together, whatever the arguments."""
    waiting = list(scripted_calls)
    left = []
    for run in runs:
        call = next((one for one in waiting if equal(_call_value(one), _call_value(run))), None)
        if call is None:
            left.append(run)
        else:
            waiting.remove(call)
    for run in left:
        call = next((one for one in waiting if one.name == run.name), None)
        if call is None:
            calls = [_call_value(one) for one in scripted_calls]
            yield _NOT_CALLED(turn.step.at_event(run), observed=_call_value(run), calls=calls)
        else:
            waiting.remove(call)
            yield _OTHER_ARGUMENTS(
                turn.step.at_event(run, "args"), expected=thaw(call.args), observed=thaw(run.args), tool=run.name
            )
    for call in waiting:
        yield _NOT_RUN(turn.view.at(), expected=_call_value(call))


def _call_value(call: FunctionCall | ToolRun) -> JSON:
    return {"name": call.name, "args": thaw(call.args)}


_RESULT_LOST = finding(
    "sessions/results-reach-the-model/missing",
    "The text that a tool returned is in no result of a request.",
    "{expected} in a result of the tool {tool}",
    "results with the texts {observed}",
)


@check("sessions/results-reach-the-model", needs="wire")
def results_reach_the_model(view: View) -> Findings:
    """What a tool returned is in the request that follows it."""
    for turn, script in ordinary_turns(view):
        runs = [run for run in turn.view.tool_runs if run.outcome == "ok" and run.name in script.results]
        returned = [(run, script.results[run.name].for_args(run.args).result) for run in runs]
        expected = [(run, text) for run, text in returned if isinstance(text, str) and text.strip()]
        requests = [one for one in turn.requests if one.call is not None]
        if not expected or not requests:
            continue
        results = (result for one in requests for result in results_in(sent_messages(one)))
        sent = [text for result in results for text in strings_in(result.result)]
        missing = [(run, text) for run, text in expected if without_blanks([text]) not in without_blanks(sent)]
        for run, text in missing:
            yield _RESULT_LOST(
                at_messages(requests[-1]),
                expected=text,
                observed=sent,
                related=(turn.step.at_event(run),),
                tool=run.name,
            )
        if not missing:
            yield Compared("results of tools")


_DENIED_RAN = finding(
    "sessions/denied-tools-do-not-run/ran",
    "A tool ran although it was denied.",
    "no run of a denied tool",
    "a run of {observed} with the arguments {args}",
)
_DENIED_WITHOUT_ANSWER = finding(
    "sessions/denied-tools-do-not-run/no-answer",
    "A turn in which a tool was denied gets no answer.",
    "the outcome {expected}",
    OUTCOME_AND_FAILURE,
)


@check("sessions/denied-tools-do-not-run", needs="wire")
def denied_tools_do_not_run(view: View) -> Findings:
    """A denied tool does not run, and the turn still ends with an answer."""
    for turn in agent_turns(view):
        script = turn.view.script
        if script is None or not script.denied or not turn.step.generated:
            continue
        runs = [run for run in turn.view.tool_runs if run.name in script.denied]
        ended = turn.view.ended
        for run in runs:
            yield _DENIED_RAN(turn.step.at_event(run), observed=run.name, args=thaw(run.args))
        if ended is None or ended.outcome != "answer":
            yield _DENIED_WITHOUT_ANSWER(
                turn.view.at_end(), expected="answer", observed=outcome(turn.view), failure=failure(turn.view)
            )
        elif not runs:
            yield Compared("denied tools")
