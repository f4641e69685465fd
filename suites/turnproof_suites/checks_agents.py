"""What an agent leaves behind, and what it says that its turns took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from turnproof.judge.finding import Compared, Side
from turnproof.judge.requirements import Findings, check, finding
from turnproof.judge.view import Exchange, View
from turnproof.messages import JSON
from turnproof.run.transcript import LeftBehind, UsageReport

from .agent_runs import agent_turns


def _processes_left(view: View) -> Iterator[LeftBehind]:
    return iter(view.transcript.of(LeftBehind))


_STILL_RUNNING = finding(
    "sessions/no-process-is-left/running",
    "A process of the agent still runs after it was shut down.",
    "none of the {started} processes",
    "{observed} still running",
)


@check("sessions/no-process-is-left", needs="wire")
def no_process_is_left(view: View) -> Findings:
    """A few seconds after the agent was shut down, also where turns were cancelled, or it was killed."""
    for left in _processes_left(view):
        for number, name in enumerate(left.processes):
            yield _STILL_RUNNING(view.at_event(left, "processes", number), observed=name, started=left.started)
        if left.started and not left.processes:
            yield Compared("processes that have ended")


_FILE_LEFT = finding(
    "sessions/working-folder-stays-as-it-is/file-left",
    "The agent leaves a file in the folder that it works in.",
    "a folder as it was before",
    "the file {observed}",
)


@check("sessions/working-folder-stays-as-it-is", needs="wire")
def working_folder_stays_as_it_is(view: View) -> Findings:
    """No tool was asked to write there."""
    for left in _processes_left(view):
        for number, name in enumerate(left.files):
            yield _FILE_LEFT(view.at_event(left, "files", number), observed=name)
        if not left.files:
            yield Compared("working folders")


_KEY_EXPOSED = finding(
    "sessions/key-is-in-no-command-line/exposed",
    "The key is in the command line of a process.",
    "no key in a command line",
    "the key in that of {observed}",
)


@check("sessions/key-is-in-no-command-line", needs="wire")
def key_is_in_no_command_line(view: View) -> Findings:
    """Every user of the machine can read those."""
    for left in _processes_left(view):
        for number, name in enumerate(left.exposed):
            yield _KEY_EXPOSED(view.at_event(left, "exposed", number), observed=name)
        if left.started and not left.exposed:
            yield Compared("command lines")


_WRONG_FIGURES = finding(
    "sessions/usage-is-of-the-turn/wrong-figures",
    "The agent reports other token counts than those of the turn.",
    "{expected}, or those of the turn's last answer, {last}",
    "{observed}",
)


@check("sessions/usage-is-of-the-turn", needs="wire")
def usage_is_of_the_turn(view: View) -> Findings:
    """All answers of the turn together, or the last of them, with or without what the agent asked for itself; and
    nothing of earlier turns."""
    for turn in agent_turns(view):
        report = turn.step.first(UsageReport)
        answers = [one for one in turn.step.answers if one.answer is not None and one.answer.usage]
        if not turn.step.ordinary or report is None or not answers or len(answers) != len(turn.step.generated):
            continue
        reported = (report.usage.prompt_tokens, report.usage.output_tokens)
        if reported == (0, 0):
            continue  # figures that say nothing may be passed over
        own = [one for one in answers if one in turn.requests]
        right = [_summed_tokens(some) for some in (answers, own, answers[-1:], own[-1:])]
        if reported in right:
            yield Compared("figures of turns")
        else:
            yield _WRONG_FIGURES(
                turn.step.at_event(report, "usage"),
                expected=_figures(right[0]),
                observed=_figures(reported),
                related=[one.at(Side.STREAM) for one in answers],
                last=_figures(right[2]),
            )


def _figures(counts: tuple[int, int]) -> JSON:
    prompt, output = counts
    return {"prompt_tokens": prompt, "output_tokens": output}


def _summed_tokens(answers: Sequence[Exchange]) -> tuple[int, int]:
    usages = [one.answer.usage for one in answers if one.answer is not None and one.answer.usage is not None]
    return sum(one.prompt_tokens for one in usages), sum(one.output_tokens for one in usages)
