"""The shipped catalogue holds together, and one that does not is refused with the reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
import pytest
from shared_material import shared_dir

import turnproof_suites
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import (
    PROFILES,
    Catalogue,
    Findings,
    Level,
    ProfileSet,
    Registry,
    Requirement,
    load_suite,
)
from turnproof.judge.view import View
from turnproof.provider import Capabilities

from . import codes, profile

FOLDER = Path(next(iter(turnproof_suites.__path__)))
FROZEN = FOLDER / "profiles" / "2026.11.toml"

GOOD = {
    "id": "core/turns-end",
    "title": "Turns end",
    "level": "MUST",
    "profile": "core",
    "reason": "They must.",
    "provider": "It ends them.",
    "code": "End them.",
    "sources": ["defects:TP1"],
}


def toml(*entries: dict[str, Any], head: str = "") -> str:
    lines = [head]
    for entry in entries:
        lines += ["[[requirement]]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "\n".join(lines)


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return str(value) if isinstance(value, int) else f'"{value}"'


def registry(*ids: str) -> Registry:
    found = Registry()
    for name in ids:

        @found.check(name)
        def nothing(view: View) -> Findings:
            yield "nothing"

    return found


def load(tmp_path: Path, text: str, *ids: str) -> Catalogue:
    path = tmp_path / "requirements.toml"
    path.write_text(text)
    return Catalogue.load(path, registry(*ids))


# -- the shipped one --------------------------------------------------------------------------------------------------


def test_every_requirement_says_in_one_short_sentence_what_a_user_notices() -> None:
    effects = {one.id: one.effect for one in load_suite().requirements}
    long_or_several = {
        name: effect
        for name, effect in effects.items()
        if not (effect.endswith(".") and 0 < len(effect) <= 120 and ". " not in effect)
    }
    assert not long_or_several
    assert len(set(effects.values())) == len(effects), "two requirements have the same sentence"


JARGON = re.compile(
    r"\b(adapter|SDK|wire|callback|payload|token set|tool_use|HTTP|JSON|header|dialect|emulator|stop_reason)s?\b|_|`"
)


def test_what_a_user_notices_is_said_without_terms_of_the_wire_or_of_the_contract() -> None:
    assert {one.id: found[0] for one in load_suite().requirements if (found := JARGON.search(one.effect))} == {}


def test_the_shipped_suite_loads_and_covers_the_profiles_that_apply() -> None:
    suite = load_suite()
    profiles = {requirement.profile for requirement in suite.requirements}
    assert profiles == set(PROFILES)
    assert len(suite.requirements) >= 62


def test_no_id_of_the_frozen_profiles_has_vanished() -> None:
    """The one test that must never be made to pass by editing the profile file."""
    frozen = ProfileSet.load(FROZEN)
    load_suite().catalogue.check_frozen(frozen)
    assert frozen.name == FROZEN.stem


def test_no_code_of_a_finding_has_vanished_and_none_is_unlisted() -> None:
    """Known issues, baselines and alerts go by codes. A new one is listed by `python -m tests.suites --write`."""
    assert codes.registered() == codes.listed()


def test_every_code_belongs_to_a_requirement_and_says_what_is_wrong_in_a_sentence() -> None:
    suite = load_suite()
    for code, template in suite.registry.templates.items():
        assert code.rpartition("/")[0] in suite.catalogue, code
        assert template.title.endswith("."), code
        assert template.title[0].isupper() or not template.title[0].isalpha(), code


def test_every_requirement_stands_in_the_newest_profiles() -> None:
    suite = load_suite()
    missing = "run: python -m tests.suites.profile --write"
    assert set(suite.profiles.ids) == {requirement.id for requirement in suite.catalogue}, missing


def test_a_new_requirement_is_added_to_its_list_in_the_newest_profile() -> None:
    text = 'name = "x"\n\n[profiles]\ncore = [\n    "core/a",\n]\ntools = [\n    "tools/a",\n]\n'
    with_more = profile.extended(text, {"core": ["core/b", "core/c"], "new": ["new/a"]})
    assert tomllib.loads(with_more)["profiles"] == {
        "core": ["core/a", "core/b", "core/c"],
        "tools": ["tools/a"],
        "new": ["new/a"],
    }


def test_every_profile_has_a_requirement_that_decides() -> None:
    suite = load_suite()
    decided = {requirement.profile for requirement in suite.requirements if requirement.level is Level.MUST}
    assert decided == {requirement.profile for requirement in suite.requirements}


def test_every_requirement_with_an_aspect_has_a_check_of_its_own() -> None:
    for check in load_suite().registry.checks.values():
        assert check.aspect is None or check.single is not None, check.id


def rows(text: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, text))


def cited(kind: str) -> Iterator[tuple[str, str]]:
    for requirement in load_suite().catalogue:
        for source in requirement.sources:
            if source.startswith(kind + ":"):
                yield requirement.id, source.partition(":")[2]


def test_every_cited_defect_and_behaviour_is_on_its_list() -> None:
    defects = rows((shared_dir() / "defects.md").read_text(), r"(?m)^\| ([A-Z]{2}\d+) \|")
    behaviours = rows((shared_dir() / "behaviours.md").read_text(), r"\*\*([A-P]\d+)\*\*")
    assert [found for found in cited("defects") if found[1] not in defects] == []
    assert [found for found in cited("behaviours") if found[1] not in behaviours] == []


def test_every_cited_section_of_a_wire_sheet_is_there() -> None:
    for requirement, source in cited("wire"):
        sheet, _, section = source.partition("#")
        text = (shared_dir() / "wire" / f"{sheet}.md").read_text()
        assert re.search(rf"(?m)^## {section}\. ", text), f"{requirement}: {source}"


# -- catalogues that are refused --------------------------------------------------------------------------------------


def test_a_small_catalogue_loads(tmp_path: Path) -> None:
    catalogue = load(tmp_path, toml(GOOD), "core/turns-end")
    assert [requirement.id for requirement in catalogue] == ["core/turns-end"]
    assert catalogue["core/turns-end"].capability == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levle": "MUST"}, "unknown field `levle`"),
        ({"level": "MAY"}, "level"),
        ({"profile": "cores"}, "did you mean 'core'"),
        ({"profile": "tools"}, "does not start with its profile"),
        ({"id": "core/Turns End"}, "profile/what-holds"),
        ({"sources": []}, "cites no source"),
        ({"sources": ["somebody said so"]}, "somebody said so"),
        ({"capability": ["stream"]}, "did you mean 'streaming'"),
        ({"capability": ["cache:huge"]}, "cache:huge"),
        ({"differences": ["stream-usage-lat"]}, "did you mean 'stream-usage-late'"),
        ({"reason": " "}, "reason is blank"),
        ({"scenarios": []}, "no scenario"),
        ({"paths": ["sideways"]}, "sideways"),
        ({"sources": ["wire:anthropic#5"]}, "`rests_on` goes with a `wire:` source"),
        ({"rests_on": "REC"}, "`rests_on` goes with a `wire:` source"),
        ({"sources": ["wire:anthropic#5"], "rests_on": "INF"}, "no MUST rests on an inferred wire rule"),
        ({"sources": ["wire:anthropic#5"], "rests_on": "HEARSAY"}, "HEARSAY"),
    ],
)
def test_a_mistake_in_an_entry_is_refused_with_file_and_reason(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(CatalogueError, match=re.escape(message)) as failure:
        load(tmp_path, toml(GOOD | change), "core/turns-end")
    assert "requirements.toml" in str(failure.value)


def test_an_unknown_key_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="unknown key 'requirements'"):
        load(tmp_path, toml(GOOD, head="requirements = 1\n"), "core/turns-end")


def test_an_id_used_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="twice"):
        load(tmp_path, toml(GOOD, GOOD), "core/turns-end")


def test_a_requirement_without_a_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="no check is registered for 'core/turns-end'; did you mean"):
        load(tmp_path, toml(GOOD), "core/turns-ended")


def test_a_check_without_a_requirement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="'core/left-over', which is no requirement"):
        load(tmp_path, toml(GOOD), "core/turns-end", "core/left-over")


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"requirements\.toml"):
        load(tmp_path, "[[requirement", "core/turns-end")


def test_an_id_that_vanished_from_the_frozen_profiles_is_refused(tmp_path: Path) -> None:
    catalogue = load(tmp_path, toml(GOOD), "core/turns-end")
    frozen = ProfileSet("2026.11", {"core": ("core/turns-end", "core/was-here")})
    with pytest.raises(CatalogueError, match=r"'core/was-here'.*never"):
        catalogue.check_frozen(frozen)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\n[profiles]\ncor = ["cor/a"]', "did you mean 'core'"),
        ('name = "x"\n[profiles]\ncore = ["tools/a"]', "is under profile"),
        ('name = "x"\n[profiles]\ncore = ["core/a", "core/a"]', "twice"),
        ('name = "x"\ndate = 1\n[profiles]\ncore = []', "unknown field `date`"),
    ],
)
def test_a_mistake_in_a_profile_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text)
    with pytest.raises(CatalogueError, match=re.escape(message)):
        ProfileSet.load(path)


def test_an_unknown_requirement_is_answered_with_the_nearest() -> None:
    with pytest.raises(CatalogueError, match="did you mean 'tools/call-ids-are-kept'"):
        load_suite().catalogue["tools/call-id-are-kept"]


@pytest.mark.parametrize(
    ("name", "message"), [("no_such_suite_anywhere", "no suite"), ("turnproof.judge.verdict", "not a package")]
)
def test_what_is_no_suite_is_refused(name: str, message: str) -> None:
    with pytest.raises(CatalogueError, match=message):
        load_suite(name)


def test_unknown_profiles_are_refused() -> None:
    with pytest.raises(CatalogueError, match=r"did you mean '2026\.12'"):
        load_suite(profiles="2026.13")


# -- what requirements answer -----------------------------------------------------------------------------------------


def test_a_requirement_looks_at_the_scenarios_of_its_globs() -> None:
    requirement = msgspec.convert(GOOD | {"scenarios": ["tools/*"]}, Requirement)
    assert requirement.looks_at("tools/one")
    assert not requirement.looks_at("basics/plain")


def test_lacking_capabilities_are_named() -> None:
    requirement = load_suite().catalogue["cache/history-is-marked"]
    assert requirement.lacks(Capabilities(cache="managed")) == ("cache:explicit",)
    assert requirement.lacks(Capabilities(cache="explicit")) == ()


def test_two_checks_for_one_requirement_are_refused() -> None:
    with pytest.raises(CatalogueError, match="two checks"):
        registry("core/turns-end", "core/turns-end")


def test_every_requirement_of_the_frozen_profiles_has_a_case() -> None:
    assert __package__ is not None
    folder = Path(__file__).parent
    modules = [import_module(f"{__package__}.{path.stem}") for path in sorted(folder.glob("test_*_check*.py"))]
    covered = {case.id for module in modules for case in getattr(module, "CASES", ())}
    # The comparison of modes takes two runs and has tests of its own.
    assert covered | {"streaming/stream-and-batch-agree"} == set(load_suite().profiles.ids)
