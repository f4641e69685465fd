"""The cassettes that are shipped: one for each scenario that an adapter claims, in both forms of an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

import turnproof_cassettes
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import binding_names, resolve_subject
from turnproof.wire.cassettes import load

FOLDER = Path(turnproof_cassettes.__file__).parent


@pytest.mark.parametrize("adapter", binding_names())
def test_every_scenario_that_an_adapter_claims_has_its_cassette_and_nothing_else_has(adapter: str) -> None:
    claims = resolve_subject(adapter).claims()
    claimed = {
        scenario.name
        for scenario in suite_scenarios(load_suite())
        if scenario.subject == "adapter" and all(map(claims.claims, scenario.features))
    }
    files = (FOLDER / adapter).rglob("*.yaml")
    shipped = {
        str(file.relative_to(FOLDER / adapter).with_suffix("")) for file in files if not file.stem.endswith(".legacy")
    }
    assert shipped == claimed


@pytest.mark.parametrize("adapter", binding_names())
def test_they_say_what_they_were_recorded_from(adapter: str) -> None:
    for file in (FOLDER / adapter).rglob("*.yaml"):
        cassette = load(file)
        assert (cassette.adapter, cassette.recorded) == (adapter, "emulated")
        assert cassette.interactions
