"""The control of a certification: an adapter that is right on sight is judged before all others.

What it is accused of is not its fault, so it is nobody's: the harness is broken on this machine, and no verdict can
be trusted. A control that holds nothing proves nothing either, so it is also asked for what its scenarios say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...dialects import api_of
from ...dialects import dialect as dialect_named
from ...errors import TurnproofError
from ...judge.requirements import Level, Suite
from ...judge.run_log import ControlResult
from ...judge.verdict import Status, Verdict
from ...judge.view import View
from ...judge.view.turn import TurnView
from ...messages import Text
from ...run.bindings import resolve_subject
from ...run.driver import RunSpec
from ...run.driver.run_place import RunPlace
from ...run.evidence import EvidenceStore
from ...run.transcript import RunKey, Transcript
from ...scenarios import Scenario
from ...subject import Subject
from ...wire.controls import CONTROLS, control_scenarios
from .decide import Claimed, decide

_PATHS = ("stateless", "legacy", "parity")


def certify_controls(
    runner: RunPlace, suite: Suite, dialects: Iterable[str], store: EvidenceStore
) -> tuple[ControlResult, ...]:
    """Run and judge the control of each dialect, one for all of its surfaces; the evidence goes into the store."""
    scenarios = control_scenarios()
    names = list(dict.fromkeys(map(api_of, dialects)))
    specs = [spec for name in names for spec in _specs(CONTROLS[name], scenarios)]
    transcripts: dict[tuple[str, RunKey], Transcript] = {}
    runner.run_all(specs, lambda spec, transcript: transcripts.__setitem__((spec.adapter, spec.key), transcript))
    results = []
    for name in names:
        own_transcripts = [transcripts[spec.adapter, spec.key] for spec in specs if spec.adapter == CONTROLS[name]]
        evidence = {str(transcript.key): store.put(transcript) for transcript in own_transcripts}
        results.append(judge_control(runner.subject(CONTROLS[name]), own_transcripts, evidence, suite))
    return tuple(results)


def control_problem(controls: Iterable[ControlResult]) -> str:
    """Why nothing can be judged; empty if every control is right."""
    for control in controls:
        if control.problem:
            return (
                f"the harness is broken on this machine: the control of {control.dialect}, an adapter too "
                f"simple to be wrong, failed: {control.problem}"
            )
    return ""


def missing_controls(controls: Sequence[ControlResult], dialects: Iterable[str]) -> Iterator[str]:
    """Which controls a certification of adapters of these dialects has, and this one has not; and runs of theirs."""
    there = {control.dialect: control for control in controls}
    planned = {name: {str(spec.key) for spec in _specs(CONTROLS[name], control_scenarios())} for name in CONTROLS}
    for name in dict.fromkeys(map(api_of, dialects)):
        if name not in there:
            yield f"the control of {name} has to be there and is not: nothing says that the harness was right"
            continue
        measured = there[name].evidence.keys()
        for key in sorted(planned[name] - measured):
            yield f"the control of {name} {key}: this run has to be there and is not"
    yield from (f"there is no control of {name!r}" for name in there if name not in CONTROLS)


def judged_again(result: ControlResult, store: EvidenceStore, suite: Suite) -> list[str]:
    """What a control's evidence does not say, and its result does; a line each."""
    if result.dialect not in CONTROLS:
        return []  # `missing_controls` names it
    wrong = [problem for digest in result.evidence.values() if (problem := store.verify(digest))]
    if wrong:
        return wrong
    transcripts = [store.get(digest) for digest in result.evidence.values()]
    again = judge_control(resolve_subject(CONTROLS[result.dialect]), transcripts, result.evidence, suite)
    if again == result:
        return []
    recorded, found = (one.problem or f"{one.held} held" for one in (result, again))
    return [f"the control of {result.dialect}: was {recorded!r}, and the evidence shows {found!r}"]


def judge_control(
    subject: Subject, transcripts: Sequence[Transcript], evidence: dict[str, str], suite: Suite
) -> ControlResult:
    """The result of a control from its runs."""
    scenarios = {scenario.name: scenario for scenario in control_scenarios()}
    wire = dialect_named(subject.dialect)
    views = [
        View(transcript, wire, scenarios[transcript.key.scenario], evidence[str(transcript.key)])
        for transcript in sorted(transcripts, key=lambda transcript: transcript.key)
    ]
    held_count = 0
    problems = [problem for view in views for problem in not_as_scripted(view)]
    try:
        for name, verdict in _verdicts(views, Claimed.of_subject(subject, list(scenarios.values())), suite):
            held_count += verdict.status is Status.HELD
            if verdict.status is Status.VIOLATED:
                problems.append(f"{name} in {verdict.where}: {suite.registry.message(verdict)}")
    except TurnproofError as error:  # a check that falls over
        problems.append(str(error))
    if not held_count:
        problems.append("no requirement found anything to judge in its runs")
    return ControlResult(dialect=subject.dialect, held=held_count, evidence=evidence, problem=next(iter(problems), ""))


def _verdicts(views: Sequence[View], claimed: Claimed, suite: Suite) -> Iterator[tuple[str, Verdict]]:
    for requirement in suite.requirements:
        if requirement.level is Level.MUST and requirement.concerns("adapter"):
            for path in _PATHS if suite.registry[requirement.id].aspect is not None else _PATHS[:2]:
                name = f"{requirement.id} [{path}]"
                yield name, decide(requirement, path, views, claimed, suite.registry)


def _specs(control: str, scenarios: Sequence[Scenario]) -> Iterator[RunSpec]:
    """Every scenario streamed, on both paths, and the second legacy run that parity asks for; in one piece once."""
    for scenario in scenarios:
        for mode in scenario.modes:
            yield RunSpec(control, scenario, RunKey(scenario.name, "stateless", mode))
            if mode == "stream":
                yield RunSpec(control, scenario, RunKey(scenario.name, "legacy", mode))
                yield RunSpec(control, scenario, RunKey(scenario.name, "legacy", mode, repeat=1))


def not_as_scripted(view: View) -> Iterator[str]:
    """Where the run itself did not go as its scenario says."""
    end = view.transcript.end
    if end.how != "completed":
        yield f"{view.key}: the run did not come to its end ({end.how}): {end.detail}"
    for index, script in enumerate(view.scenario.turns):
        turn = view.turns[index] if index < len(view.turns) else None
        expected = "answer" if script.cancel is None else "cancelled"
        outcome = turn.ended.outcome if turn is not None and turn.ended is not None else "missing"
        if turn is None or outcome != expected:
            yield f"{view.key}: turn {index} ended with {outcome!r}{_reason(turn)} instead of {expected!r}"
            continue
        text = "".join(p.part.text for p in script.rounds[-1].parts if isinstance(p.part, Text))
        text_of_turn = turn.ended.text if turn.ended is not None else ""
        if expected == "answer" and not text_of_turn.endswith(text):
            yield f"{view.key}: turn {index} was answered with {text_of_turn!r}, and the script has {text!r}"


def _reason(turn: TurnView | None) -> str:
    failed = [call.failed for call in turn.calls if call.failed is not None] if turn is not None else []
    return f" ({failed[-1].error}: {failed[-1].message})" if failed else ""
