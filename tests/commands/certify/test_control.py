"""The control: a harness that is broken accuses nobody, and says what is wrong with itself.

The harness is broken here on purpose, in one place at a time. Each breakage is first shown to make a right adapter look
guilty, so that the control is what saves it.
"""

from __future__ import annotations

import dataclasses
import io
import json
from collections.abc import AsyncIterator, Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.campaign import Campaign
from turnproof.commands.certify.control import certify_controls, control_problem, judge_control, judged_again
from turnproof.commands.certify.decide import Claimed, decide
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.plan import plan
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.certify.verify import verify_run
from turnproof.dialects import dialect, dialect_names
from turnproof.dialects.base import Evidence, Refusal, Rule, Source
from turnproof.judge.requirements import Suite, load_suite
from turnproof.judge.run_log import ControlResult, Run, read_run
from turnproof.judge.verdict import Status, Verdict, violated
from turnproof.report import certification, print_summary
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import RunEnded, RunKey, Transcript, TurnEnded
from turnproof.scenarios.model import Scenario
from turnproof.subject import Subject
from turnproof.wire.controls import CONTROLS, control_scenarios
from turnproof.wire.emulator import answer_writer

from .right import RIGHT

Patch = pytest.MonkeyPatch

SPEC = "commands.certify.right:RIGHT"
ANTHROPIC = CONTROLS["anthropic-messages"]


# -- ways to break the harness -------------------------------------------------------------------------------------


def drops_bytes(patch: Patch) -> None:
    """The front loses the end of streams on its way, and notes that it wrote it."""
    write = web.StreamResponse.write

    async def losing(self: web.StreamResponse, data: bytes) -> None:
        if b"message_stop" not in data:
            await write(self, data)

    patch.setattr(web.StreamResponse, "write", losing)


def waits_for_nobody(patch: Patch) -> None:
    """The front finds at once that it has waited for long enough: what it holds back until a cancel is let go."""

    async def not_at_all(limit: float) -> AsyncIterator[None]:
        nothing: tuple[None, ...] = ()
        for never in nothing:
            yield never

    patch.setattr(answer_writer, "_until", not_at_all)


def refuses_everything(patch: Patch) -> None:
    """The emulator has something against every request."""
    rule = Rule("anthropic-messages/bad-day", (Source(Evidence.RECORDED, "https://example.invalid/", "2026-11-26"),))
    refusal = Refusal(rule, 400, "invalid_request_error", "not today")
    patch.setattr(type(dialect("anthropic-messages")), "validate", lambda *_: [refusal])


@dataclasses.dataclass(frozen=True)
class Breakage:
    id: str
    breaks: Callable[[Patch], None]
    scenario: str
    accused_of: str
    problem: str


BREAKAGES = [
    Breakage(
        "bytes are dropped",
        drops_bytes,
        "basics/plain",
        "core/a-good-answer-is-returned",
        "(TransportError: the stream ended before its answer did) instead of 'answer'",
    ),
    Breakage(
        "nobody is waited for",
        waits_for_nobody,
        "cancel/in_text",
        "cancellation/silence-is-no-obstacle",
        "control/trouble",
    ),
    Breakage("all is refused", refuses_everything, "basics/plain", "core/no-request-is-refused", "not today"),
]
each_breakage = pytest.mark.parametrize("breakage", BREAKAGES, ids=attrgetter("id"))


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


def certified(folder: Path, scenario: str, requirement: str) -> tuple[int, Run]:
    """A small certification of the right adapter."""
    options = CertifyOptions((SPEC,), only=(requirement,), scenarios=(scenario,), out=folder, in_process=True)
    return certify(options), read_run(folder / "run.ndjson")


# -- a broken harness ----------------------------------------------------------------------------------------------


@each_breakage
def test_without_a_control_a_right_adapter_would_be_accused(
    breakage: Breakage, suite: Suite, monkeypatch: Patch
) -> None:
    breakage.breaks(monkeypatch)
    scenarios = {scenario.name: scenario for scenario in suite_scenarios(suite)}
    spec = RunSpec("right", scenarios[breakage.scenario], RunKey(breakage.scenario, "stateless"))
    with Runner(in_process=True, bindings={"right": RIGHT}) as runner:
        transcript, subject = runner.run(spec), runner.subject("right")
    verdict = decided(suite, breakage.accused_of, transcript, subject, spec.scenario)
    assert verdict.status is Status.VIOLATED


def decided(suite: Suite, requirement: str, transcript: Transcript, subject: Subject, scenario: Scenario) -> Verdict:
    from turnproof.judge.view import View

    view = View(transcript, dialect(subject.dialect), scenario, "")
    claimed = Claimed.of_subject(subject, [scenario])
    return decide(suite.catalogue[requirement], "stateless", [view], claimed, suite.registry)


@each_breakage
def test_a_broken_harness_accuses_nobody(
    breakage: Breakage, tmp_path: Path, monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
) -> None:
    breakage.breaks(monkeypatch)
    code, run = certified(tmp_path, breakage.scenario, breakage.accused_of)
    assert code == Exit.FAULT
    assert {line.verdict.status for line in run.results} == {Status.INCONCLUSIVE}
    reason = run.results[0].verdict.message
    assert reason.startswith("the harness is broken on this machine: the control of anthropic-messages")
    assert breakage.problem in reason
    assert capsys.readouterr().err.count(reason) == 1
    assert run.transcripts == ()  # nothing was measured that nobody could judge
    report = json.loads((tmp_path / "certification.json").read_bytes())
    assert not report["adapters"]["right"]["certified"]
    assert report["problems"] == [reason]
    shown = io.StringIO()
    print_summary(run, certification(run), shown)
    words = " ".join(shown.getvalue().split())
    assert words.count(" ".join(f"problem: {reason}".split())) == 1  # once, and not for each requirement
    assert words.startswith("? Nothing was judged")
    assert "too simple to be wrong, failed" not in words.replace(" ".join(reason.split()), "")
    assert (tmp_path / "summary.md").read_text("utf-8").count("the harness is broken") == 1
    assert breakage.problem in report["controls"][0]["problem"]
    # From its evidence the control is accused again.
    assert verify_run(run, EvidenceStore(tmp_path / "evidence")).problems == ()


def test_a_campaign_asks_its_control_before_it_makes_a_run(suite: Suite) -> None:
    class NoLab:
        def run_all(self, *_: Any) -> None:
            raise AssertionError("a run was made in a broken harness")

    with Runner(in_process=True, bindings={"right": RIGHT}) as runner:
        subjects = {"right": runner.subject("right")}
    scenarios = suite_scenarios(suite)
    campaign = Campaign(
        plan(subjects, suite, scenarios, suite.requirements[:3]),
        subjects,
        NoLab(),  # type: ignore[arg-type]
        EvidenceStore(Path("nowhere")),
        scenarios,
        control=lambda: "the harness is broken",
    )
    campaign.measure()
    messages = {campaign.verdict(item).message for item in campaign.plan.items}
    assert messages == {"the harness is broken"}


# -- a sound one ---------------------------------------------------------------------------------------------------


def test_every_dialect_has_a_control() -> None:
    assert sorted(CONTROLS) == dialect_names()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, Run]:
    folder = tmp_path_factory.mktemp("sound")
    return folder, *certified(folder, "basics/plain", "core/text-is-what-the-wire-carried")


@pytest.fixture(scope="module")
def controls(tmp_path_factory: pytest.TempPathFactory, suite: Suite) -> tuple[EvidenceStore, tuple[ControlResult, ...]]:
    """The controls of all dialects, judged by all requirements."""
    store = EvidenceStore(tmp_path_factory.mktemp("controls"))
    with Runner(in_process=True) as runner:
        return store, certify_controls(runner, suite, CONTROLS, store)


def test_controls_are_right(controls: tuple[EvidenceStore, tuple[ControlResult, ...]]) -> None:
    _, results = controls
    assert [(result.dialect, result.problem) for result in results] == [(name, "") for name in CONTROLS]
    assert control_problem(results) == ""
    # Most of what adapters are asked for is seen in them: a control that shows nothing vouches for nothing.
    assert all(result.held > 100 for result in results)


def test_control_scenarios_exercise_what_the_harness_does_to_a_conversation() -> None:
    turns = [turn for scenario in control_scenarios() for turn in scenario.turns]
    assert {cut.at for turn in turns if (cut := turn.cancel)} == {"event", "tool"}
    assert {fault.kind for turn in turns for fault in turn.faults} == {"status", "reset", "split"}
    assert {action for turn in turns for action in turn.before} == {"gc", "save-load", "new-provider"}
    assert any(len(turn.rounds) > 1 for turn in turns)


def test_the_control_is_in_every_report(sound: tuple[Path, int, Run]) -> None:
    folder, code, run = sound
    assert code == Exit.OK
    (control,) = run.header.controls
    assert control.dialect == "anthropic-messages"
    assert control.problem == ""
    report = json.loads((folder / "certification.json").read_bytes())
    assert report["controls"] == [msgspec.to_builtins(control)]
    assert f"anthropic-messages: {control.held} verdicts held" in (folder / "index.html").read_text("utf-8")
    assert f"Control: anthropic-messages {control.held} held" in (folder / "summary.md").read_text("utf-8")


def test_verifying_judges_the_control_again(sound: tuple[Path, int, Run]) -> None:
    folder, _, run = sound
    store = EvidenceStore(folder / "evidence")
    assert verify_run(run, store).problems == ()

    def with_control(**changed: Any) -> Run:
        control = msgspec.structs.replace(run.header.controls[0], **changed)
        return dataclasses.replace(run, header=msgspec.structs.replace(run.header, controls=(control,)))

    (more,) = verify_run(with_control(held=999), store).problems
    assert "was '999 held'" in more
    blamed = verify_run(with_control(problem="bad luck"), store).problems
    assert any("was 'bad luck'" in problem for problem in blamed)
    assert sum("nothing could be judged" in problem for problem in blamed) == len(run.results)
    problems = verify_run(with_control(evidence={"control/talk/stateless/stream": "0" * 64}), store).problems
    assert "is missing" in problems[-1]


def test_verifying_asks_for_every_control_and_all_of_its_runs(sound: tuple[Path, int, Run]) -> None:
    folder, _, run = sound
    (control,) = run.header.controls

    def problems(*controls: ControlResult) -> tuple[str, ...]:
        header = msgspec.structs.replace(run.header, controls=controls)
        return verify_run(dataclasses.replace(run, header=header), EvidenceStore(folder / "evidence")).problems

    assert any("the control of anthropic-messages has to be there and is not" in one for one in problems())
    (first, *rest) = control.evidence
    fewer = msgspec.structs.replace(control, evidence={key: control.evidence[key] for key in rest})
    assert any(f"{first}: this run has to be there and is not" in one for one in problems(fewer))
    stranger = msgspec.structs.replace(control, dialect="nobody's")
    assert any('there is no control of "nobody\'s"' in one for one in problems(control, stranger))


# -- how a control is judged -----------------------------------------------------------------------------------------


def rejudged(
    controls: tuple[EvidenceStore, tuple[ControlResult, ...]], suite: Suite, change: Callable[[Any], Any]
) -> ControlResult:
    """The first control's result if one event of its first run had been another, or (None) none at all."""
    store, (result, *_) = controls
    transcripts = [store.get(digest) for digest in result.evidence.values()]
    first = transcripts[0]
    events = tuple(new for event in first.events if (new := change(event)) is not None)
    transcripts[0] = msgspec.structs.replace(first, events=events)
    with Runner(in_process=True) as runner:
        return judge_control(runner.subject(ANTHROPIC), transcripts, result.evidence, suite)


def test_a_run_that_died_fails_the_control(
    controls: tuple[EvidenceStore, tuple[ControlResult, ...]], suite: Suite
) -> None:
    def died(event: Any) -> Any:
        return RunEnded(how="died", detail="out of memory") if isinstance(event, RunEnded) else event

    assert "did not come to its end (died): out of memory" in rejudged(controls, suite, died).problem


def test_a_turn_that_nobody_ended_fails_the_control(
    controls: tuple[EvidenceStore, tuple[ControlResult, ...]], suite: Suite
) -> None:
    result = rejudged(controls, suite, lambda event: None if isinstance(event, TurnEnded) else event)
    assert "turn 0 ended with 'missing'" in result.problem


def test_an_answer_that_nobody_scripted_fails_the_control(
    controls: tuple[EvidenceStore, tuple[ControlResult, ...]], suite: Suite
) -> None:
    def other(event: Any) -> Any:
        return msgspec.structs.replace(event, text="Bad morning.") if isinstance(event, TurnEnded) else event

    assert "was answered with 'Bad morning.'" in rejudged(controls, suite, other).problem


def _falls_over(view: Any) -> Verdict:
    raise KeyError("no such turn")


@pytest.mark.parametrize(
    ("check", "problem"),
    [(lambda view: violated("it looks guilty"), "it looks guilty"), (_falls_over, "KeyError('no such turn')")],
    ids=["accuses everybody", "falls over"],
)
def test_a_check_that_is_wrong_fails_the_control(
    check: Callable[[Any], Verdict],
    problem: str,
    controls: tuple[EvidenceStore, tuple[ControlResult, ...]],
    suite: Suite,
    monkeypatch: Patch,
) -> None:
    checks, name = suite.registry._checks, "core/text-is-what-the-wire-carried"
    monkeypatch.setitem(checks, name, dataclasses.replace(checks[name], single=check))
    assert problem in rejudged(controls, suite, lambda event: event).problem


def test_a_control_that_holds_nothing_vouches_for_nothing(
    controls: tuple[EvidenceStore, tuple[ControlResult, ...]], suite: Suite
) -> None:
    store, (result, *_) = controls
    nobody = dataclasses.replace(suite, catalogue=type(suite.catalogue)(()))
    (problem,) = judged_again(result, store, nobody)
    assert "no requirement found anything to judge" in problem


def test_the_first_problem_of_the_first_broken_control_is_told() -> None:
    fine = ControlResult(dialect="gemini", held=3)
    bad = ControlResult(dialect="anthropic-messages", problem="a turn is missing")
    assert "control of anthropic-messages" in control_problem([fine, bad])
    assert control_problem([fine]) == control_problem([]) == ""
