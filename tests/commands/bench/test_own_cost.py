"""What turnproof itself takes: rounds of parts that a test makes up, and each real part once and small."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from turnproof.commands.bench.own_cost import certification
from turnproof.commands.bench.own_cost.cassettes import Cassettes
from turnproof.commands.bench.own_cost.certification import Certifying, verdicts
from turnproof.commands.bench.own_cost.parts import Compared, Key, NotInstalled, measure_parts
from turnproof.commands.bench.own_cost.plugin import Plugin
from turnproof.commands.bench.own_cost.processes import FinishedProcess, run
from turnproof.commands.bench.own_cost.server import Server
from turnproof.commands.bench.report import OwnFigure, OwnRatio
from turnproof.errors import HarnessError, ProviderError


class MadeUp:
    """A part that takes what a test says, round by round."""

    unit = "ms"
    ratios: Sequence[Compared] = (("load", ("load", "ours"), ("load", "theirs")),)

    def __init__(self, *rounds: Mapping[Key, float] | Exception) -> None:
        self.rounds = list(rounds)
        self.open = False

    def __enter__(self) -> MadeUp:
        self.open = True
        return self

    def __exit__(self, *raised: object) -> None:
        self.open = False

    def round(self) -> Mapping[Key, float]:
        assert self.open
        found = self.rounds.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


class Absent(MadeUp):
    def __enter__(self) -> MadeUp:
        raise NotInstalled("no such tool")


def quiet(done: int, total: int, what: str) -> None:
    pass


def both(ours: float, theirs: float) -> Mapping[Key, float]:
    return {("load", "ours"): ours, ("load", "theirs"): theirs}


def test_a_figure_is_its_best_round_and_a_ratio_the_median_of_the_quotients() -> None:
    part = MadeUp(both(1.0, 4.0), both(3.0, 2.0))
    found = measure_parts([lambda: part], 2, quiet)
    assert found.figures == (
        OwnFigure("load", "ours", 1.0, "ms", (1.0, 3.0)),
        OwnFigure("load", "theirs", 2.0, "ms", (4.0, 2.0)),
    )
    assert found.ratios == (OwnRatio("load", "ours", "theirs", 0.875, 0.25, 1.5),)
    assert (found.problems, found.notes, part.open) == ((), (), False)


def test_a_ratio_of_two_figures_of_one_tool_names_the_figures() -> None:
    class Ends(MadeUp):
        ratios: Sequence[Compared] = (("end", ("last", "ours"), ("first", "ours")),)

    part = Ends({("last", "ours"): 2.0, ("first", "ours"): 1.0})
    assert measure_parts([lambda: part], 1, quiet).ratios == (
        OwnRatio("end", "ours, last", "ours, first", 2.0, 2.0, 2.0),
    )


def test_a_tool_that_is_not_there_leaves_its_ratio_out() -> None:
    part = MadeUp({("load", "ours"): 1.0})
    found = measure_parts([lambda: part], 1, quiet)
    assert [figure.of for figure in found.figures] == ["ours"]
    assert found.ratios == ()


def test_a_part_that_cannot_be_opened_is_noted_and_the_others_go_on() -> None:
    found = measure_parts([Absent, lambda: MadeUp(both(1.0, 1.0))], 1, quiet)
    assert found.notes == ("no such tool",)
    assert len(found.figures) == 2


def test_a_part_that_fails_in_a_round_has_no_figure_and_takes_no_further_part() -> None:
    bad, good = MadeUp(both(1.0, 1.0), OverflowError("a\nb"), both(1.0, 1.0)), MadeUp(*[both(2.0, 1.0)] * 3)
    found = measure_parts([lambda: bad, lambda: good], 3, quiet)
    assert found.problems == ("MadeUp: OverflowError: a b",)
    assert [ratio.value for ratio in found.ratios] == [2.0]
    assert len(bad.rounds) == 1


def test_our_own_fault_is_nobody_elses() -> None:
    with pytest.raises(HarnessError):
        measure_parts([lambda: MadeUp(HarnessError("ours"))], 1, quiet)


def test_rounds_of_all_parts_take_turns() -> None:
    reports: list[tuple[int, int]] = []
    parts = [lambda: MadeUp(*[both(1.0, 1.0)] * 2), lambda: MadeUp(*[both(1.0, 1.0)] * 2)]
    measure_parts(parts, 2, lambda done, total, what: reports.append((done, total)))
    assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_the_server_answers_from_a_script_and_from_a_cassette() -> None:
    with Server(requests=3) as part:
        found = part.round()
    assert set(found) == {("request", "emulator"), ("request", "replay")}
    assert all(microseconds > 0 for microseconds in found.values())


def test_a_cassette_is_loaded_and_played_by_all_who_can() -> None:
    with Cassettes(interactions=4) as part:
        found = part.round()
    assert {of for _, of in found} == {"turnproof", "vcrpy", "vcrpy, registered"}
    assert all(key in found for _, *keys in part.ratios for key in keys)


def test_a_test_with_a_cassette_passes_with_both_plugins() -> None:
    with Plugin(tests=1) as part:
        # It raises where a test does not pass.
        assert part._pytest("turnproof") > 0
        assert part._pytest("pytest-recording") > 0


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(ProviderError, match="exit code 3: no luck"):
        run(["-c", "import sys; sys.stderr.write('no luck'); sys.exit(3)"])
    assert run(["-c", "print('fine')"]).stdout == "fine\n"


def test_verdicts_are_counted_for_each_path(tmp_path: Path) -> None:
    requirements = {"a": {"paths": {"stateless": "held", "legacy": "held"}}, "b": {"paths": {"stateless": "held"}}}
    document = {"adapters": {"mine": {"requirements": requirements}}}
    (tmp_path / "certification.json").write_text(json.dumps(document))
    assert verdicts(tmp_path) == 3


def test_what_certifies_is_held_against_other_tests_only_where_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[tuple[str, ...]] = []

    def pretend(words: Sequence[str], **options: object) -> FinishedProcess:
        commands.append(tuple(words[:3]))
        if "pytest" in words:
            assert {"STANDARD_URL", "STANDARD_KEY", "STANDARD_MODEL"} == set(options["env"])  # type: ignore[call-overload]
            return FinishedProcess(0.0, 4.0, "38 passed, 12 skipped in 2.10s")
        requirements = {"a": {"paths": {"stateless": "held", "legacy": "held"}}}
        document = {"adapters": {"anthropic": {"requirements": requirements}}}
        Path(words[-1], "certification.json").write_text(json.dumps(document))
        return FinishedProcess(0.0, 0.5, "")

    monkeypatch.setattr(certification, "run", pretend)
    with Certifying() as alone:
        assert alone.round() == {("check", "turnproof certify anthropic"): 250.0}
    with Certifying(tmp_path / "python") as part:
        assert part.round()["check", "langchain-tests"] == pytest.approx(4000 / 38)
    assert commands == [("-m", "turnproof", "certify"), ("-m", "turnproof", "certify"), ("-m", "pytest", "-q")]


def test_tests_of_which_none_passed_are_no_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certification, "run", lambda words, **options: FinishedProcess(0.0, 1.0, "12 skipped"))
    with pytest.raises(ProviderError, match="langchain-tests passed nothing"):
        certification._standard_tests(tmp_path / "python", tmp_path)
