"""What a certification says of what it leaves out: requirements in no profile, scenarios that it could not run."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from turnproof._base.depth import Depth
from turnproof.commands.certify.engine import left_out_talk
from turnproof.commands.certify.plan import Plan, plan, select
from turnproof.commands.certify.scenarios import chosen_scenarios, suite_scenarios
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject

SUITE = load_suite()
UNLISTED = "tools/call-ids-are-kept"
PROFILES = dataclasses.replace(
    SUITE,
    profiles=type(SUITE.profiles)(
        SUITE.profiles.name,
        {name: tuple(each for each in ids if each != UNLISTED) for name, ids in SUITE.profiles.profiles.items()},
    ),
)


def test_a_requirement_without_a_line_in_a_profile_is_named_with_the_file() -> None:
    with pytest.raises(CatalogueError) as refusal:
        select(PROFILES, [UNLISTED], [], [])
    file = f"profiles/{SUITE.profiles.name}.toml"
    assert f"is in requirements.toml but in no profile: add it to 'tools' in {file}" in str(refusal.value)


def test_a_requirement_with_its_line_is_found_and_another_name_gets_a_hint() -> None:
    assert [one.id for one in select(SUITE, [UNLISTED], [], [])] == [UNLISTED]
    with pytest.raises(CatalogueError, match="did you mean 'tools/call-ids-are-kept'"):
        select(SUITE, ["tools/call-ids-are-kep"], [], [])


def a_plan(subjects: int) -> Plan:
    names = [f"adapter{number}" for number in range(subjects)]
    return Plan(
        (),
        (),
        considered=dict.fromkeys(names, 48),
        left_out={name: Counter({"thinking, cache": 2, "documents": 1}) for name in names},
    )


def test_of_a_few_subjects_each_is_told_what_it_lacks() -> None:
    assert left_out_talk(a_plan(1)) == [
        "adapter0: 3 of 48 scenarios left out; they need capabilities that are not claimed: cache, documents, thinking"
    ]


def test_many_subjects_share_a_line() -> None:
    (line,) = left_out_talk(a_plan(9))
    assert line.endswith("adapter7 3 of 48, adapter8 3 of 48")


def test_nothing_left_out_is_nothing_to_say() -> None:
    assert left_out_talk(Plan((), ())) == []


@pytest.mark.parametrize(
    ("claimed", "depth", "patterns", "expected"),
    [
        (True, "quick", (), {"tools/parallel"}),
        (False, "quick", (), {"tools/one"}),
        (True, "full", (), {"tools/one", "tools/parallel"}),
        (True, "quick", ("tools/*",), {"tools/one", "tools/parallel"}),
    ],
    ids=["who claims more", "who claims less", "at full depth", "by its name"],
)
def test_a_scenario_in_whose_place_another_one_is_run_is_for_who_claims_less(
    claimed: bool, depth: Depth, patterns: tuple[str, ...], expected: set[str]
) -> None:
    subject = resolve_subject("openai")
    less = dataclasses.replace(subject.claims(), parallel_tools=claimed)
    subject = dataclasses.replace(subject, adapter=dataclasses.replace(subject.adapter, capabilities=less))
    scenarios = chosen_scenarios(suite_scenarios(SUITE), patterns)
    found = plan({"openai": subject}, SUITE, scenarios, SUITE.requirements, depth=depth, named=bool(patterns))
    names = {run.key.scenario for run in found.runs}
    assert names & {"tools/one", "tools/parallel"} == expected
