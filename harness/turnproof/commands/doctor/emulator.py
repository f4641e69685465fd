"""Whether the emulator works on this machine: the control of each dialect, which is right on sight, holds one talk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..._base.counts import counted
from ...dialects import api_of
from ...dialects import dialect as dialect_named
from ...judge.view import View
from ...provider import PATHS
from ...run.driver import Runner, RunSpec
from ...run.transcript import RunKey, Transcript
from ...scenarios import Scenario
from ...wire.controls import CONTROLS, control_scenarios
from ..certify.control import not_as_scripted
from .model import Diagnostic, ok, wrong

AREA = "emulator"


def emulator(runner: Runner, dialects: Iterable[str]) -> Iterator[Diagnostic]:
    """One plain conversation of the control of each dialect, on both paths, streamed and in one piece."""
    names = list(dict.fromkeys(map(api_of, dialects)))
    scenario = plain_scenario()
    specs = [
        RunSpec(CONTROLS[name], scenario, RunKey(scenario.name, path, mode))
        for name in names
        for path in PATHS
        for mode in scenario.modes
    ]
    transcripts_by_dialect: dict[str, list[Transcript]] = {name: [] for name in names}
    of = {CONTROLS[name]: name for name in names}
    runner.run_all(specs, lambda spec, transcript: transcripts_by_dialect[of[spec.adapter]].append(transcript))
    for name, transcripts in transcripts_by_dialect.items():
        yield judge_emulator(name, scenario, transcripts)


def plain_scenario() -> Scenario:
    """The scenario of the controls in which nothing goes wrong."""
    return next(one for one in control_scenarios() if not any(turn.faults or turn.cancel for turn in one.turns))


def judge_emulator(name: str, scenario: Scenario, transcripts: Iterable[Transcript]) -> Diagnostic:
    """What the runs of a control say of the emulator of its dialect."""
    wire = dialect_named(name)
    runs = sorted(transcripts, key=lambda transcript: transcript.key)
    problems = [problem for one in runs for problem in not_as_scripted(View(one, wire, scenario, ""))]
    if problems:
        advice = "turnproof is broken here, or the machine is: see machine; no adapter is to blame"
        return wrong(AREA, name, problems[0], advice)
    turns = len(scenario.turns) * len(runs)
    return ok(AREA, name, f"its control held {counted(turns, 'turn')} as scripted, in {counted(len(runs), 'run')}")
