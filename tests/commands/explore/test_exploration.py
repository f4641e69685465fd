"""An exploration on a bench that runs nothing: what counts as found, what is written, and who is accused."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import cast

import msgspec
import pytest

from turnproof._base.exit_codes import Exit
from turnproof._base.settings import Config, Settings
from turnproof.commands.explore.exploration import ExploreOptions, Exploring
from turnproof.commands.explore.report import Exploration, to_json
from turnproof.commands.explore.terminal import print_exploration
from turnproof.commands.explore.trial import Failure, ScenarioTrial
from turnproof.errors import HarnessError
from turnproof.judge.requirements import load_suite
from turnproof.judge.verdict import Status
from turnproof.run.bindings import resolve_subject
from turnproof.scenarios import Scenario, load
from turnproof.scenarios.documents import Document

SUITE = load_suite()
PAIRED = "tools/results-answer-every-call"
HISTORY_IS_WHOLE = "history/what-was-said-is-held"


def failure(what: str = PAIRED, path: str = "stateless", status: Status = Status.VIOLATED) -> Failure:
    kind = "requirement" if "/" in what else "difference"
    return Failure(kind, what, path, status, f"{what} is broken\x1b[31m", "somewhere")  # type: ignore[arg-type]


def collects(scenario: Scenario) -> bool:
    return any("gc" in turn.before for turn in scenario.turns)


def saves(scenario: Scenario) -> bool:
    return any("save-load" in turn.before for turn in scenario.turns)


HELLO = {"user": "Hello.", "model": [["Hello", {"text": ["again", "."]}]]}
TOOLS = {"user": "Read.", "model": [["So", {"call": "read"}], ["41 %"]], "results": {"read": {"result": "41 %"}}}

DOCUMENTS: list[Document] = [
    {"title": "Drawn", "modes": ["stream"], "system": "Be brief.", "tools": [{"name": "read"}], "turns": turns}
    for turns in (
        [HELLO],
        [HELLO, TOOLS],
        [HELLO, TOOLS | {"before": ["gc"]}, HELLO],
        [TOOLS, HELLO | {"before": ["save-load", "tamper"]}, TOOLS],
        [HELLO, HELLO | {"before": ["gc"], "cancel": {"after": "text:2"}}, TOOLS],
    )
]
"""Scenarios as they might be drawn."""

THINKING: Document = {
    "title": "Drawn",
    "options": {"thinking": {"budget_tokens": 1024}, "max_tokens": 4096},
    "turns": [{"user": "Think.", "model": [[{"thinking": ["Hm."]}, "Yes."]]}],
}


class FakeBench:
    """Finds what a function says of a scenario."""

    def __init__(self, says: Callable[[Scenario], list[Failure]], subject: str = "reference") -> None:
        self.subject = resolve_subject(subject)
        self.says = says
        self.tried: list[str] = []
        self.runs = 0

    def failures(self, scenario: Scenario) -> tuple[Failure, ...]:
        self.tried.append(scenario.name)
        return tuple(self.says(scenario))

    def shows(self, scenario: Scenario, expected: Failure) -> bool:
        return any(one.key == expected.key for one in self.failures(scenario))


def exploring(
    out: Path,
    says: Callable[[Scenario], list[Failure]],
    *,
    control: Callable[[Scenario], list[Failure]] | None = None,
    examples: int = 12,
    most: int = 5,
    settings: Settings | None = None,
) -> Exploring:
    options = ExploreOptions("mine", examples=examples, most=most, out=out, config=Config(settings or Settings()))
    control_bench = cast("ScenarioTrial", FakeBench(control)) if control is not None else None
    requirements = {one.id: one for one in SUITE.requirements}
    found = Exploring(options, cast("ScenarioTrial", FakeBench(says)), control_bench, requirements)
    found.run(cycle(DOCUMENTS))
    return found


def report(found: Exploring, **how: object) -> Exploration:
    return Exploration(
        subject="mine",
        seed=0,
        examples=found.examples,
        runs=0,
        duration_s=0.0,
        findings=tuple(found.findings),
        unsteady=tuple(found.unsteady),
        **how,  # type: ignore[arg-type]
    )


def when(holds: Callable[[Scenario], bool], *failures: Failure) -> Callable[[Scenario], list[Failure]]:
    return lambda scenario: list(failures) if holds(scenario) else []


def test_where_all_is_well_every_scenario_is_tried_once_and_nothing_is_written(tmp_path: Path) -> None:
    found = exploring(tmp_path, lambda scenario: [], examples=25)
    tried = cast("FakeBench", found.bench).tried
    assert tried == [f"explored/reference-0-{number}" for number in range(1, 26)]
    assert (found.findings, found.unsteady, list(tmp_path.iterdir())) == ([], [], [])
    assert report(found).exit_code is Exit.OK


def test_a_finding_is_a_small_scenario_in_a_file_under_the_name_that_it_was_run_with(tmp_path: Path) -> None:
    found = exploring(tmp_path, when(collects, failure()))
    (finding,) = found.findings
    scenario = load(finding.file)
    assert collects(scenario)
    assert len(scenario.turns) == 1
    assert Path(finding.file).parent == tmp_path / "explored"
    assert scenario.name in cast("FakeBench", found.bench).tried
    assert finding.command == f"turnproof certify mine --scenario {finding.file} --only {PAIRED}"
    assert SUITE.catalogue[PAIRED].title in scenario.title
    assert report(found).exit_code is Exit.VIOLATIONS


def test_what_is_found_once_is_not_found_again(tmp_path: Path) -> None:
    both = exploring(
        tmp_path,
        lambda scenario: when(collects, failure())(scenario) + when(saves, failure(HISTORY_IS_WHOLE))(scenario),
    )
    assert sorted(finding.failures[0].what for finding in both.findings) == [HISTORY_IS_WHOLE, PAIRED]


def test_what_the_smallest_scenario_shows_besides_belongs_to_the_same_finding(tmp_path: Path) -> None:
    found = exploring(tmp_path, when(collects, failure(), failure(HISTORY_IS_WHOLE, "legacy")))
    (finding,) = found.findings
    assert [one.what for one in finding.failures] == [PAIRED, HISTORY_IS_WHOLE]


def test_the_search_ends_when_enough_was_found(tmp_path: Path) -> None:
    every = [requirement.id for requirement in SUITE.requirements]
    choose = random.Random(0)
    seen: dict[str, str] = {}

    def says(scenario: Scenario) -> list[Failure]:
        return [failure(seen.setdefault(scenario.name, choose.choice(every)))]

    found = exploring(tmp_path, says, most=3)
    assert (len(found.findings), found.examples) == (3, 3)


def test_what_fails_once_and_not_again_accuses_nobody(tmp_path: Path) -> None:
    names: set[str] = set()

    def at_first(scenario: Scenario) -> list[Failure]:
        fresh = scenario.name not in names
        names.add(scenario.name)
        return [failure(), failure(HISTORY_IS_WHOLE)] if fresh and collects(scenario) else []

    found = exploring(tmp_path, at_first)
    assert found.findings == []
    assert {once.failure.what for once in found.unsteady} == {PAIRED}
    assert all(collects(load(once.file)) for once in found.unsteady)
    assert report(found).exit_code is Exit.OK


def test_what_the_control_does_wrong_too_is_our_own_fault(tmp_path: Path) -> None:
    (ours,) = exploring(tmp_path / "a", when(collects, failure()), control=when(collects, failure())).findings
    (theirs,) = exploring(tmp_path / "b", when(collects, failure()), control=lambda scenario: []).findings
    assert (ours.ours, theirs.ours) == (True, False)


def test_our_own_fault_is_a_fault_and_no_violation(tmp_path: Path) -> None:
    found = exploring(tmp_path, when(collects, failure()), control=when(collects, failure()))
    assert report(found).exit_code is Exit.FAULT


def test_the_control_is_not_asked_for_what_it_does_not_claim(tmp_path: Path) -> None:
    def needs_thinking(scenario: Scenario) -> bool:
        return "thinking" in scenario.features

    found = Exploring(
        ExploreOptions("mine", out=tmp_path),
        cast("ScenarioTrial", FakeBench(when(needs_thinking, failure()))),
        cast(
            "ScenarioTrial",
            FakeBench(when(needs_thinking, failure()), "turnproof.wire.controls.anthropic_messages:CONTROL"),
        ),
        {one.id: one for one in SUITE.requirements},
    )
    found.run([THINKING])
    assert [finding.ours for finding in found.findings] == [False]


def test_a_difference_between_the_paths_is_shown_by_compare(tmp_path: Path) -> None:
    (finding,) = exploring(tmp_path, when(collects, failure("error-flag", "parity"))).findings
    assert finding.command == f"turnproof compare mine --scenario {finding.file}"
    assert "declare it" in finding.remedy


def test_the_command_says_a_seed_where_the_settings_would_choose_another(tmp_path: Path) -> None:
    (finding,) = exploring(tmp_path, when(collects, failure()), settings=Settings(seed=7)).findings
    assert finding.command.endswith(f"--seed 0 --only {PAIRED}")


def test_what_nobody_can_decide_is_no_violation(tmp_path: Path) -> None:
    found = exploring(tmp_path, when(collects, failure(status=Status.INCONCLUSIVE)))
    assert report(found).exit_code is Exit.UNDECIDED


def test_a_fault_of_turnproof_ends_the_search_with_its_scenario_in_a_file(tmp_path: Path) -> None:
    def falls_over(scenario: Scenario) -> list[Failure]:
        if collects(scenario):
            raise HarnessError("the check of something failed")
        return []

    with pytest.raises(HarnessError, match=r"itself failed on .*explored/reference-0-3.yaml: the check of something"):
        exploring(tmp_path, falls_over)
    (file,) = (tmp_path / "explored").iterdir()
    assert collects(load(file))


def test_nothing_tried_is_no_success() -> None:
    nothing = Exploration(subject="mine", seed=0, examples=0, runs=0, duration_s=0.0)
    assert nothing.exit_code is Exit.UNDECIDED
    assert msgspec.structs.replace(nothing, interrupted=True).exit_code is Exit.INTERRUPTED


def test_people_read_what_failed_why_and_how_to_see_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    found = report(exploring(tmp_path, when(collects, failure())))
    print_exploration(found, sys.stdout)
    output = capsys.readouterr().out
    assert f"✗ violated {PAIRED} [stateless]" in output
    assert "before: [gc]" in output
    assert found.findings[0].command in output
    assert " ".join(SUITE.catalogue[PAIRED].remedy.split()[:4]) in output
    assert "\x1b" not in output
    assert "1 failing scenario found" in output


def test_programs_read_the_same_as_json(tmp_path: Path) -> None:
    found = report(exploring(tmp_path, when(collects, failure())))
    document = msgspec.json.decode(to_json(found))
    assert document["schema"] == "turnproof.explore/1"
    assert document["findings"][0]["failures"][0] == {
        "kind": "requirement",
        "what": PAIRED,
        "path": "stateless",
        "status": "violated",
        "message": f"{PAIRED} is broken\x1b[31m",
        "where": "somewhere",
        "detail": "",
    }
