"""Turns of an agent: its tools, its end when it is cancelled, fails or is killed, and what it leaves behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from turnproof.messages import JSON, FunctionCall, thaw
from turnproof.requirements import Findings, check
from turnproof.scenarios.model import Turn
from turnproof.transcript import Killed, LeftBehind, SaidBeside, UsageReport
from turnproof.verdict import inconclusive, violated
from turnproof.view import Exchange, View
from turnproof.view.diff import equal, show

from .kept import CHANGING, Talk, talks
from .reading import results_in, spoken_text
from .steps import bare


def _after(view: View) -> Iterator[tuple[Talk, Talk]]:
    """Each turn with the next one of the same session, nothing having been done to the sessions in between."""
    every = talks(view)
    for talk, later in pairwise(every):
        if not later.steps:
            yield talk, later


def _cancelled(talk: Talk) -> bool:
    return talk.turn.cut is not None and talk.turn.cut.by != "kill" and talk.turn.cancelled


def _killed(talk: Talk) -> Killed | None:
    return talk.step.first(Killed)


# -- tools --------------------------------------------------------------------------------------------------


@check("sessions/calls-run-once", without_calls=True)
def calls_run_once(view: View) -> Findings:
    """Each call that the model made, with its own arguments, and no other."""
    for talk in talks(view):
        script = talk.turn.script
        if not talk.step.ordinary or script is None:
            continue
        known = {tool.name for tool in view.scenario.tools_in(talk.turn.index)} - set(script.denied)
        parts = (part.part for round_ in script.rounds for part in round_.parts)
        made = [(part.name, part.args) for part in parts if isinstance(part, FunctionCall) and part.name in known]
        ran = [(run.name, run.args) for run in talk.turn.tool_runs if run.name in known]
        if not made and not ran:
            continue
        if len(made) != len(ran):
            yield violated(f"{talk.where}: the model made {len(made)} calls, and tools ran {len(ran)} times")
        elif not equal(_sorted(made), _sorted(ran)):
            yield violated(
                f"{talk.where}: the model called {show(_sorted(made))}, and what ran was {show(_sorted(ran))}"
            )
        else:
            yield "calls of agents"


def _sorted(calls: Sequence[tuple[str, JSON]]) -> list[JSON]:
    return [[name, thaw(args)] for name, args in sorted(calls, key=lambda call: (call[0], repr(thaw(call[1]))))]


@check("sessions/results-reach-the-model", without_calls=True)
def results_reach_the_model(view: View) -> Findings:
    """What a tool returned is in the request that follows it."""
    for talk in talks(view):
        script = talk.turn.script
        if not talk.step.ordinary or script is None:
            continue
        ran = [run for run in talk.turn.tool_runs if run.outcome == "ok" and run.name in script.results]
        returned = [script.results[run.name].for_args(run.args).result for run in ran]
        wanted = [text for text in returned if isinstance(text, str) and text.strip()]
        calls = [one.call for one in talk.requests if one.call is not None]
        if not wanted or not calls:
            continue
        results = (result for call in calls for result in results_in(call.messages))
        sent = bare(text for result in results for text in _texts(thaw(result.result)))
        missing = [text for text in wanted if bare([text]) not in sent]
        if missing:
            yield violated(f"{talk.where}: the tool returned {show(missing[0])}, and no result in the request has it")
        else:
            yield "results of tools"


def _texts(value: JSON) -> Iterator[str]:
    """Every text in a result, which some programs wrap."""
    match value:
        case str():
            yield value
        case dict():
            yield from (text for one in value.values() for text in _texts(one))
        case list():
            yield from (text for one in value for text in _texts(one))


@check("sessions/denied-tools-do-not-run", without_calls=True)
def denied_tools_do_not_run(view: View) -> Findings:
    """The model is told so, and the turn comes to its answer."""
    for talk in talks(view):
        script = talk.turn.script
        if script is None or not script.denied or not talk.step.generated:
            continue
        ran = [run.name for run in talk.turn.tool_runs if run.name in script.denied]
        ended = talk.turn.ended
        if ran:
            yield violated(f"{talk.where}: {ran[0]!r} was denied, and it ran")
        elif ended is None or ended.outcome != "answer":
            yield violated(f"{talk.where}: a tool was denied, and the turn ended with {ended and ended.outcome!r}")
        else:
            yield "denied tools"


@check("sessions/one-turn-at-a-time", without_calls=True)
def one_turn_at_a_time(view: View) -> Findings:
    """A second one is refused with a known error, or waits, and is answered behind the first in the same session."""
    for talk in talks(view):
        script, beside, ended = talk.turn.script, talk.step.first(SaidBeside), talk.turn.ended
        if script is None or script.beside is None or beside is None or ended is None:
            continue
        mine, theirs = _last_text(script), _last_text(script.beside)
        if ended.outcome != "answer" or bare([mine]) not in bare([ended.text]):
            yield violated(
                f"{talk.where}: another turn was asked for meanwhile, and this one ended with {ended.outcome!r}, "
                f"{show(ended.text)} instead of {show(mine)}"
            )
        elif beside.outcome == "open":
            yield violated(f"{talk.where}: a turn that was asked for at the same time never ended")
        elif beside.outcome == "error" and not beside.typed:
            yield violated(f"{talk.where}: a second turn was refused with {beside.error}, which no caller knows")
        elif beside.outcome == "answer" and bare([theirs]) not in bare([beside.text]):
            told = show(beside.text)
            yield violated(f"{talk.where}: a second turn waited, and was answered {told}, not {show(theirs)}")
        else:
            yield "turns asked for at the same time"


def _last_text(script: Turn) -> str:
    return spoken_text(part.part for part in script.rounds[-1].parts)


# -- turns that end otherwise -------------------------------------------------------------------------------


@check("sessions/cancelled-turn-serves-the-next", without_calls=True)
def cancelled_turn_serves_the_next(view: View) -> Findings:
    """The next turn has its own answer, in the same session, and so has the one after it."""
    yield from _next_has_its_own(view, _cancelled, "cancelled turns")


@check("sessions/cancel-ends-the-request", without_calls=True)
def cancel_ends_the_request(view: View) -> Findings:
    """The service is told that nobody wants the answer any more: the connection is closed."""
    for talk in talks(view):
        held = [one for one in talk.step.generated if one.held and one.response is not None]
        if not _cancelled(talk) or not held:
            continue
        last = held[-1].response
        if last is not None and last.released == "limit":
            yield violated(f"{talk.where}: the turn was cancelled, and the request went on until the server gave up")
        elif talk.turn.ended is None or talk.turn.ended.outcome != "cancelled":
            ended = talk.turn.ended
            yield violated(f"{talk.where}: the turn was cancelled, and it ended with {ended and ended.outcome!r}")
        else:
            yield "requests of cancelled turns"


@check("sessions/failed-turn-serves-the-next", without_calls=True)
def failed_turn_serves_the_next(view: View) -> Findings:
    """A turn that the model's service refused does not end the session."""

    def failed(talk: Talk) -> bool:
        return bool(talk.turn.script and talk.turn.script.faults) and talk.turn.failed is not None

    yield from _next_has_its_own(view, failed, "failed turns")


def _next_has_its_own(view: View, happened: Callable[[Talk], bool], what: str) -> Findings:
    """All that follow in the same session have, until something is done to the sessions."""
    since: Talk | None = None
    for talk in talks(view):
        since = None if talk.steps else since
        ended = talk.turn.ended
        if since is not None and talk.turn.normal and ended is not None:
            after = f"{talk.where}: after {since.where}"
            why = f": {talk.turn.failed.error}: {talk.turn.failed.message}" if talk.turn.failed is not None else ""
            if ended.outcome != "answer":
                yield violated(f"{after} this one ended with {ended.outcome!r}{why}")
            elif not talk.answered:
                yield violated(f"{after} this one was answered without asking the model")
            elif bare(talk.answered_text[-1:]) not in bare([ended.text]):
                told = show(talk.answered_text[-1:])
                yield violated(f"{talk.where}: the model answered {told}, and the reply is {show(ended.text)}")
            elif missing := talk.lacks(talk.before):
                yield violated(f"{after} the request lacks {show(missing)}")
            else:
                yield what
        since = talk if happened(talk) else since


@check("sessions/failure-is-no-answer", without_calls=True)
def failure_is_no_answer(view: View) -> Findings:
    """What the service refused for good is raised, with a known error, and not told as text."""
    for talk in talks(view):
        script = talk.turn.script
        if script is None or script.error is None or not talk.requests or talk.answered:
            continue
        ended, failed = talk.turn.ended, talk.turn.failed
        if ended is None:
            continue
        if ended.outcome != "error" or failed is None:
            yield violated(
                f"{talk.where}: the service refused, and the turn ended with {ended.outcome!r}, {show(ended.text)}"
            )
        elif not failed.typed:
            yield violated(
                f"{talk.where}: the service refused, and the agent raised {failed.error}, which no caller knows"
            )
        else:
            yield "refusals by the service"


@check("sessions/retried-answer-is-shown-once", without_calls=True)
def retried_answer_is_shown_once(view: View) -> Findings:
    """Where an agent asks again after a broken stream, the reply is the answer, without what had come before it."""
    for talk in talks(view):
        script, ended = talk.turn.script, talk.turn.ended
        broken = [one for one in talk.step.generated if one.fault is not None and one.text]
        if script is None or not broken or ended is None or script.cut is not None:
            continue
        if ended.outcome != "answer":
            yield "streams that broke off"  # the caller hears of it, and asks again
            continue
        # What was written whole before the connection broke is an answer, however the connection ended.
        answers = talk.answered_text or [_last_text(script)]
        if _is_end_of(bare([ended.text]), bare(answers), bare(answers[-1:])):
            yield "answers that were asked for again"
        else:
            told = show(talk.answered_text)
            yield violated(f"{talk.where}: the model answered {told} at last, and the reply is {show(ended.text)}")


def _is_end_of(text: str, answers: str, last: str) -> bool:
    """Whether it is the last of the answers, perhaps with those before it."""
    return answers.endswith(text) and text.endswith(last)


@check("sessions/killed-agent-ends-the-turn", without_calls=True)
def killed_agent_ends_the_turn(view: View) -> Findings:
    """With an error of the tree: what was shown was no answer."""
    for talk in talks(view):
        killed, ended, failed = _killed(talk), talk.turn.ended, talk.turn.failed
        if killed is None or ended is None:
            continue
        if not killed.processes:
            yield inconclusive(f"{talk.where}: the agent had no process that could be killed")
        elif ended.outcome != "error" or failed is None:
            yield violated(f"{talk.where}: the agent was killed, and the turn ended with {ended.outcome!r}")
        elif not failed.typed:
            yield violated(f"{talk.where}: the agent was killed, and it raised {failed.error}, which no caller knows")
        else:
            yield "turns whose agent was killed"


@check("sessions/earlier-turns-survive-a-kill", without_calls=True)
def earlier_turns_survive_a_kill(view: View) -> Findings:
    """What was answered before is in the requests after it, of the same object and of a fresh process."""
    lost: str | None = None
    expected: str | None = None
    for talk in talks(view):
        for done in talk.steps:
            if done.wanted.do in CHANGING and done.event.outcome == "done":
                expected = done.wanted.session
        if lost is not None and expected == lost and talk.turn.normal:
            ended = talk.turn.ended
            why = f": {talk.turn.failed.error}: {talk.turn.failed.message}" if talk.turn.failed is not None else ""
            if ended is None or ended.outcome != "answer":
                yield violated(f"{talk.where}: after the agent was killed, this turn failed{why}")
            elif missing := talk.lacks(talk.known.get(lost, ())):
                yield violated(f"{talk.where}: the agent was killed, and the request lacks {show(missing)}")
            else:
                yield "turns after a kill"
        killed = _killed(talk)
        if lost is None or expected != lost:
            expected = talk.session or expected
        if killed is not None and killed.processes:
            lost = expected = expected or ""


@check("sessions/loss-is-not-hidden", without_calls=True)
def loss_is_not_hidden(view: View) -> Findings:
    """What was shown of a turn that was lost is sent in the next one, or the history does not claim it."""
    for talk, later in _after(view):
        ended = talk.turn.ended
        killed = _killed(talk)
        if killed is None or not killed.processes or ended is None or later.asked is None:
            continue
        shown, sent = bare([ended.shown]), bare(message.text for message in later.sent)
        before, held = (
            bare(message.text for message in messages if message.role == "model")
            for messages in (talk.step.before, talk.step.held)
        )
        if shown and held.count(shown) > before.count(shown) and shown not in sent:
            told = show(ended.shown)
            yield violated(f"{later.where}: the history has {told} of the turn that was lost, and the request lacks it")
        else:
            yield "turns that were lost"


# -- what is left -------------------------------------------------------------------------------------------


def _left(view: View) -> Iterator[LeftBehind]:
    return iter(view.transcript.of(LeftBehind))


@check("sessions/no-process-is-left", without_calls=True)
def no_process_is_left(view: View) -> Findings:
    """A few seconds after the agent was shut down, also where turns were cancelled, or it was killed."""
    for left in _left(view):
        if left.processes:
            count = Counter(left.processes)
            told = ", ".join(f"{times} × {name}" for name, times in sorted(count.items()))
            yield violated(f"the agent was shut down, and {told} of {left.started} processes are still running")
        elif left.started:
            yield "processes that have ended"


@check("sessions/working-folder-stays-as-it-is", without_calls=True)
def working_folder_stays_as_it_is(view: View) -> Findings:
    """No tool was asked to write there."""
    for left in _left(view):
        if left.files:
            yield violated(f"the agent has left {', '.join(left.files[:5])} in the folder that it worked in")
        else:
            yield "working folders"


@check("sessions/key-is-in-no-command-line", without_calls=True)
def key_is_in_no_command_line(view: View) -> Findings:
    """Every user of the machine can read those."""
    for left in _left(view):
        if left.exposed:
            yield violated(f"the key stands in the command line of {', '.join(left.exposed)}")
        elif left.started:
            yield "command lines"


@check("sessions/usage-is-of-the-turn", without_calls=True)
def usage_is_of_the_turn(view: View) -> Findings:
    """All answers of the turn together, or the last of them, with or without what the agent asked for itself; and
    nothing of earlier turns."""
    for talk in talks(view):
        report = talk.step.first(UsageReport)
        answers = [one for one in talk.step.answers if one.answer is not None and one.answer.usage]
        if not talk.step.ordinary or report is None or not answers or len(answers) != len(talk.step.generated):
            continue
        told = (report.usage.prompt_tokens, report.usage.output_tokens)
        if told == (0, 0):
            continue  # figures that say nothing may be passed over
        own = [one for one in answers if one in talk.requests]
        right = [_added_up(some) for some in (answers, own, answers[-1:], own[-1:])]
        if told in right:
            yield "figures of turns"
        else:
            yield violated(f"{talk.where}: the agent told {told} tokens, and the turn's answers took {right[0]}")


def _added_up(answers: Sequence[Exchange]) -> tuple[int, int]:
    usages = [one.answer.usage for one in answers if one.answer is not None and one.answer.usage is not None]
    return sum(one.prompt_tokens for one in usages), sum(one.output_tokens for one in usages)
