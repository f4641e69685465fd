"""Who claims little is certified for little: no requirement stays undecided because nothing within the claims shows it.

One certification for all of them, over HTTP. What it compared is held against the index of what shows what, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from suites.shown import compared_in

from commands.certify.small_bindings import NAMES
from turnproof.commands.certify.consistency import RecordedSubject
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.judge.requirements import load_suite
from turnproof.judge.run_log import Run, read_run
from turnproof.judge.verdict import Status

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("small")
    specs = tuple(f"commands.certify.small_bindings:{name}" for name in NAMES)
    assert certify(CertifyOptions(specs, backend="emulate", out=out)) == 0
    return out


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return read_run(folder / "run.ndjson")


@pytest.mark.parametrize("name", NAMES)
def test_each_is_certified_and_nothing_is_undecided(run: Run, folder: Path, name: str) -> None:
    report = json.loads((folder / "certification.json").read_text())["adapters"][name.lower()]
    undecided = [line for line in run.results if line.verdict.status is Status.INCONCLUSIVE]
    assert [line.requirement for line in undecided if line.adapter == name.lower()] == []
    assert report["certified"]


def test_a_smaller_set_of_claims_shows_as_that(folder: Path) -> None:
    adapters: dict[str, Any] = json.loads((folder / "certification.json").read_text())["adapters"]
    totals = {}
    for name, found in adapters.items():
        held, claimed, every = (
            sum(profile["must"][0] for profile in found["profiles"].values()),
            sum(profile["must"][1] for profile in found["profiles"].values()),
            sum(profile["all"] for profile in found["profiles"].values()),
        )
        assert held == claimed < every
        totals[name] = claimed, every
    for kind in ("openai", "anthropic", "google"):
        (most, every), (least, same) = totals[f"{kind}_stream_tools"], totals[f"{kind}_nothing"]
        assert least < most
        assert every == same
    core = adapters["openai_nothing"]["profiles"]["core"]
    (held, claimed), every = core["must"], core["all"]
    assert f"| core | certified | {held}/{claimed} of {every} |" in (folder / "summary.md").read_text()


def test_nothing_is_unclaimed_but_for_want_of_its_own_capabilities(run: Run) -> None:
    catalogue = load_suite().catalogue
    for line in run.results:
        claims = RecordedSubject.from_line(run.adapters[line.adapter]).claims()
        if line.verdict.status is Status.NOT_CLAIMED and run.requirements[line.requirement].level == "MUST":
            requirement = catalogue[line.requirement]
            assert requirement.lacks(claims) or line.path not in requirement.paths, line.requirement


def test_the_index_has_all_that_was_compared(run: Run) -> None:
    shown = load_suite().shown
    assert shown is not None
    missing = []
    for line in run.results:
        side = "parity" if line.path == "parity" else "alone"
        known = shown.scenarios(line.requirement, run.adapters[line.adapter].dialect, side)  # type: ignore[arg-type]
        missing += [
            (line.requirement, line.path, scenario, mode)
            for scenario, mode in compared_in(line.verdict.compared)
            if known.get(scenario, "not there") not in ("", mode)
        ]
    assert missing == [], "run: python -m tests.suites.shown --write"
