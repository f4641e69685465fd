"""Every MUST can be decided at the default depth by a subject that claims no more than what the MUST is about."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from turnproof._base.depth import DEFAULT_DEPTH
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.dialects import dialect
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import Level, Requirement, Shown, load_suite
from turnproof.scenarios import Scenario

from .shown import FILE

SUITE = load_suite()
SCENARIOS = {scenario.name: scenario for scenario in suite_scenarios(SUITE)}
SHOWN = Shown.load(FILE, (one.id for one in SUITE.catalogue))


def lacking(requirement: Requirement, wire: str) -> list[set[str]]:
    """What each quick scenario that shows a requirement needs beyond the requirement's own capabilities."""
    own = set(requirement.capability) | {f"wire:{trait}" for trait in dialect(wire).traits}
    own |= {"cache"} if any(name.startswith("cache:") for name in requirement.capability) else set()
    found = []
    for name, mode in SHOWN.scenarios(requirement.id, wire).items():
        scenario = SCENARIOS[name]
        if scenario.is_in(DEFAULT_DEPTH):
            found.append(set(scenario.features) - own | ({"streaming"} - own if mode == "stream" else set()))
    return found


def musts(subject: str) -> list[Requirement]:
    return [one for one in SUITE.requirements if one.level is Level.MUST and one.subject == subject]


def applies(requirement: Requirement, wire: str) -> bool:
    """Whether the wire API has what it is about."""
    traits = {f"wire:{trait}" for trait in dialect(wire).traits}
    return {name for name in requirement.capability if name.startswith("wire:")} <= traits


@pytest.mark.parametrize("wire", sorted(SHOWN.dialects))
def test_a_scenario_decides_each_must_with_no_more_than_its_own_capabilities(wire: str) -> None:
    short = {
        one.id: min(found, key=len)
        for one in musts("adapter")
        if applies(one, wire) and (found := lacking(one, wire)) and all(found)
    }
    assert short == {}


def test_each_must_is_shown_in_some_dialect() -> None:
    nowhere = {
        one.id
        for subject in ("adapter", "session", "agent")
        for one in musts(subject)
        if not any(lacking(one, wire) for wire in SHOWN.dialects)
    }
    assert nowhere == set()


@pytest.mark.parametrize("subject", ["session", "agent"])
def test_a_scenario_decides_each_must_of_sessions_and_agents_with_no_more_than_its_own_capabilities(
    subject: str,
) -> None:
    needs: dict[str, set[str]] = {}
    for one in musts(subject):
        found = [lacks for wire in SHOWN.dialects if applies(one, wire) for lacks in lacking(one, wire)]
        if found and all(found):
            needs[one.id] = min(found, key=lambda lacks: (len(lacks), sorted(lacks)))
    assert needs == {}


def test_the_index_names_scenarios_that_there_are() -> None:
    for one in SUITE.catalogue:
        for wire in SHOWN.dialects:
            for side in ("alone", "parity"):
                for name, mode in SHOWN.scenarios(one.id, wire, side).items():
                    assert mode in ("", *modes(SCENARIOS[name])), (one.id, name)
                    assert one.looks_at(name), (one.id, name)


def modes(scenario: Scenario) -> tuple[str, ...]:
    return scenario.modes if len(scenario.modes) > 1 else ()


def write(folder: Path, data: object) -> Path:
    file = folder / "shown.json"
    file.write_bytes(msgspec.json.encode(data))
    return file


TWO = {
    "dialects": ["here", "there"],
    "shown": {"a/b": {"alone": {"*": ["x/all", "x/one:stream"], "here": ["x/here"], "here there": ["x/one:batch"]}}},
}


def test_what_shows_a_requirement_depends_on_the_dialect(tmp_path: Path) -> None:
    shown = Shown.load(write(tmp_path, TWO), ["a/b"])
    assert shown.scenarios("a/b", "there") == {"x/all": "", "x/one": ""}
    assert shown.scenarios("a/b", "here") == {"x/all": "", "x/one": "", "x/here": ""}
    assert shown.scenarios("a/b", "unheard-of") == shown.scenarios("a/b", "here")
    assert shown.scenarios("a/b", "here", "parity") == {}
    assert shown.scenarios("c/d", "here") == {}


@pytest.mark.parametrize(
    "data", [{"dialects": [], "shown": {"no/such": {}}}, {"dialects": []}, {"dialects": [], "shown": {}, "more": 1}, 3]
)
def test_an_index_that_is_wrong_is_refused_with_its_file(tmp_path: Path, data: object) -> None:
    with pytest.raises(CatalogueError, match=r"shown\.json"):
        Shown.load(write(tmp_path, data), ["a/b"])
