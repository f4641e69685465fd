"""The mutants as a catalogue: each names something that exists, and together they prove every requirement."""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path
from typing import get_args

import pytest

from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import Level, Suite, load_suite
from turnproof.judge.requirements.model import _SOURCE
from turnproof.run.driver.mutation import Mutant, Seam, all_mutants
from turnproof.scenarios import Scenario
from turnproof_suites.mutants import MUTANTS
from turnproof_suites.mutants._mutant import MutantRow, mutant_rows, suite_mutant
from turnproof_suites.rows import read_rows

by_name = pytest.mark.parametrize("mutant", MUTANTS, ids=attrgetter("name"))


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


@pytest.fixture(scope="module")
def scenarios(suite: Suite) -> list[Scenario]:
    return suite_scenarios(suite)


def test_there_are_enough_mutants_and_no_name_is_used_twice() -> None:
    assert len(MUTANTS) >= 42
    assert [name for name, times in Counter(mutant.name for mutant in MUTANTS).items() if times > 1] == []


def test_installed_suites_offer_exactly_these_mutants() -> None:
    assert list(all_mutants().values()) == list(MUTANTS)


def test_every_row_has_a_class_and_every_class_a_row() -> None:
    rows, classes = list(mutant_rows()), [mutant.name for mutant in MUTANTS]
    assert set(rows) == set(classes)
    assert rows == classes, "mutants.toml has its rows in the order of the classes: move the row or the class"
    with pytest.raises(
        CatalogueError, match=r"mutants\.toml: no mutant is named 'refusal-unkown'.*add a \[\[mutant\]\]"
    ):
        suite_mutant("refusal-unkown")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            '[[mutant]]\nname = "a"\nseam = "roof"\n',
            r"rows\.toml: Invalid enum value 'roof' - at `\$\[...\]\[0\]\.seam`",
        ),
        (
            2 * '[[mutant]]\nname = "a"\nseam = "wire"\ncaught_by = "b/c"\nscenarios = []\nsources = []\n',
            "two mutants are",
        ),
        ("[[mutant]\n", r"rows\.toml: .*line 1"),
    ],
)
def test_a_wrong_row_is_refused_with_its_file_and_place(tmp_path: Path, rows: str, message: str) -> None:
    (tmp_path / "rows.toml").write_text(rows)
    with pytest.raises(CatalogueError, match=message):
        read_rows(tmp_path / "rows.toml", "mutant", MutantRow)


def test_every_seam_is_used() -> None:
    used = Counter(mutant.seam for mutant in MUTANTS)
    assert set(used) == set(get_args(Seam))
    assert min(used.values()) >= 5


@by_name
def test_the_requirement_that_is_to_catch_it_is_certified(mutant: Mutant, suite: Suite) -> None:
    assert mutant.caught_by in suite.profiles.ids


@by_name
def test_its_scenarios_exist_and_its_requirement_looks_at_them(
    mutant: Mutant, suite: Suite, scenarios: list[Scenario]
) -> None:
    requirement = suite.catalogue[mutant.caught_by]
    for glob in mutant.scenarios:
        found = [scenario.name for scenario in scenarios if fnmatchcase(scenario.name, glob)]
        assert found
        assert any(map(requirement.looks_at, found))
    assert set(mutant.paths) <= set(requirement.paths)


@by_name
def test_it_breaks_one_seam_with_the_means_made_for_it(mutant: Mutant) -> None:
    assert (mutant.filter is not None) == (mutant.seam == "wire")
    assert (mutant.session is not None) == (mutant.seam in ("session", "agent"))
    assert (mutant.wrap is not None) == (mutant.seam not in ("wire", "session", "agent"))


@by_name
def test_it_says_what_it_breaks_in_one_sentence_and_where_that_was_seen(mutant: Mutant) -> None:
    assert re.fullmatch(r"[A-Z][^\n]*\.", mutant.breaks)
    assert mutant.sources
    assert all(_SOURCE.fullmatch(source) for source in mutant.sources)


def test_every_profile_with_a_must_has_a_mutant(suite: Suite) -> None:
    musts = {requirement.profile for requirement in suite.requirements if requirement.level is Level.MUST}
    assert musts <= {mutant.caught_by.partition("/")[0] for mutant in MUTANTS}


def test_every_requirement_has_a_mutant(suite: Suite) -> None:
    named = {mutant.caught_by for mutant in MUTANTS}
    assert [requirement.id for requirement in suite.requirements if requirement.id not in named] == []


@pytest.mark.parametrize("kind", ["session", "agent"])
def test_what_is_required_of_sessions_and_agents_is_proved_by_their_like(kind: str, suite: Suite) -> None:
    required = [mutant for mutant in MUTANTS if suite.catalogue[mutant.caught_by].subject == kind]
    assert required
    assert [mutant.name for mutant in required if mutant.seam != kind] == []


def test_agents_are_broken_only_in_what_is_required_of_agents(suite: Suite) -> None:
    broken = [mutant for mutant in MUTANTS if mutant.seam == "agent"]
    assert [one.name for one in broken if suite.catalogue[one.caught_by].subject != "agent"] == []


def test_an_adapter_is_judged_by_what_its_session_does_in_three_places(suite: Suite) -> None:
    """The session asks the token before it calls anybody, and so must the adapter; the rest is the session's own."""
    broken = {mutant.caught_by for mutant in MUTANTS if mutant.seam == "session"}
    assert {name for name in broken if suite.catalogue[name].subject == "adapter"} == {
        "cancellation/before-the-start-sends-nothing",
        "cancellation/back-off-can-be-cancelled",
        "persistence/loaded-history-is-the-saved-one",
    }
