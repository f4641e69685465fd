"""The phases as data: what the shipped file promises, and what a wrong one is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from turnproof.commands.gates import Phases, load_phases
from turnproof.commands.gates.checks import CHECKS
from turnproof.errors import CatalogueError, UsageError
from turnproof.judge.requirements import load_suite

CRITERION = """
[[criterion]]
id = "1/it-works"
title = "It works"
check = "histories-agree"
flag = ["off"]
reason = "It has to."
remedy = "Mend it."
sources = ["behaviours:A4"]
"""
PHASE = '[[phase]]\nnumber = 1\nname = "first"\ngoal = "It works."\nexit = ["1/it-works"]\n'
LATER = '[[phase]]\nnumber = 2\nname = "second"\ngoal = "It still works."\nentry = ["1/it-works"]\n'


@pytest.fixture
def shipped() -> Phases:
    return load_phases()


def load(folder: Path, text: str) -> Phases:
    file = folder / "phases.toml"
    file.write_text(text)
    return load_phases(file)


def test_there_are_five_phases_and_each_has_a_gate(shipped: Phases) -> None:
    assert [phase.number for phase in shipped.phase] == [1, 2, 3, 4, 5]
    assert all(phase.exit for phase in shipped.phase)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (6, "there is no phase 6; those with a gate are 1, 2, 3, 4, 5"),
        (0, "there is no phase 0"),
    ],
)
def test_a_phase_without_a_gate_cannot_be_asked_for(shipped: Phases, number: int, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        shipped[number]


def test_what_a_phase_is_for_has_to_hold_when_the_next_one_ends(shipped: Phases) -> None:
    checks = {criterion.check for criterion in shipped.criteria(shipped[2].entry)}
    assert {"histories-agree", "requirements"} <= checks
    assert all(criterion.flag == ("off",) for criterion in shipped.criteria(shipped[2].entry))


def test_every_check_is_there_and_every_requirement_that_is_named_exists(shipped: Phases) -> None:
    catalogue = load_suite().catalogue
    for criterion in shipped.criterion:
        assert criterion.check in CHECKS
        assert criterion.sources
        for name in criterion.requirements:
            assert name in catalogue


def test_a_third_phase_needs_nothing_but_data(tmp_path: Path) -> None:
    found = load(tmp_path, PHASE + LATER + CRITERION)
    assert found[1].exit == ("1/it-works",)
    assert found.criteria(found.phase[1].entry)[0].title == "It works"


def test_each_later_phase_builds_on_what_the_earlier_ones_were_for(shipped: Phases) -> None:
    for phase in shipped.phase[1:]:
        assert phase.entry
        assert all(criterion.phase < phase.number for criterion in shipped.criteria(phase.entry))
        assert phase.subjects == ("pilot" if phase.number == 2 else "all")


def test_where_the_flag_is_gone_earlier_criteria_are_read_without_it(shipped: Phases) -> None:
    for number in (4, 5):
        phase = shipped[number]
        assert phase.flag == "gone"
        read = {criterion.id: criterion.flag for criterion in (*shipped.entry(phase), *shipped.exit(phase))}
        assert {flag for id, flag in read.items() if id != "4/flag-is-gone"} == {("default",)}
        assert read["4/flag-is-gone"] == ("default", "off")
    assert {criterion.flag for criterion in shipped.entry(shipped[3])} == {("on",)}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (PHASE + CRITERION + 'situations = ["save"]', "'situations' and the check 'provider-untouched' go together"),
        (PHASE + CRITERION.replace("histories-agree", "provider-untouched"), "'situations' and the check"),
        (
            PHASE + CRITERION.replace("histories-agree", "flag-gone"),
            "cannot read flag = ['off'], but ['default', 'off']",
        ),
        (PHASE.replace("goal", 'flag = "lost"\ngoal') + CRITERION, "Invalid enum value 'lost'"),
        (
            PHASE.replace("goal", 'flag = "gone"\ngoal') + CRITERION,
            "phase 1: the flag is gone from phase 4 on, and only",
        ),
        (PHASE + CRITERION.replace('"histories-agree"', '"histories"'), "Invalid enum value 'histories'"),
        (PHASE + CRITERION.replace("title", "titel"), "unknown field `titel`"),
        (PHASE + CRITERION.replace('"off"', '"of"'), "Invalid enum value 'of'"),
        (PHASE + CRITERION.replace('["off"]', "[]"), "1/it-works: the check 'histories-agree' cannot read flag = []"),
        (PHASE + CRITERION.replace("histories-agree", "paths-agree"), "cannot read flag = ['off'], but ['off', 'on']"),
        (PHASE + CRITERION.replace("histories-agree", "requirements"), "'requirements' and the check of that name"),
        (PHASE + CRITERION + 'requirements = ["core/x"]', "'requirements' and the check of that name go together"),
        (PHASE + CRITERION.replace("It has to.", " "), "1/it-works: 'reason' is blank"),
        (PHASE + CRITERION.replace("1/it-works", "works"), "'works' is not phase/what-holds"),
        (PHASE + CRITERION + CRITERION, "criterion '1/it-works' is there twice"),
        (PHASE + PHASE + CRITERION, "phase 1 is there twice"),
        (PHASE.replace("it-works", "it-work") + CRITERION, "'1/it-work', which is not there; did you mean"),
        (PHASE.replace("number = 1", "number = 2") + CRITERION, "is among the exit criteria of phase 2"),
        (PHASE.replace("exit", "entry") + CRITERION, "'1/it-works' is among the entry criteria of phase 1"),
        (LATER + CRITERION, "no phase has '1/it-works' among its exit criteria"),
        ("phase = ", "Invalid value"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(CatalogueError) as failure:
        load(tmp_path, text)
    assert str(failure.value).startswith(f"{tmp_path / 'phases.toml'}: ")
    assert says in str(failure.value)


def test_a_file_that_is_not_there_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=re.escape(str(tmp_path / "none.toml"))):
        load_phases(tmp_path / "none.toml")
