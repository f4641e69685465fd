"""Broken chains: each requirement about stored conversations has a mutant that no other one of the profile notices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.mutants import mutants
from turnproof.commands.certify.options import MutantsOptions
from turnproof.judge.requirements import load_suite
from turnproof_suites.mutants import MUTANTS

OURS = tuple(mutant for mutant in MUTANTS if mutant.caught_by.startswith("stored/"))

ADAPTERS = {
    False: "openai_responses",
    True: "turnproof_adapters.openai_responses.binding:WEBSOCKET",
}
"""By whether a mutant breaks what is in the memory of a connection."""


NOTICED_TWICE = {
    "chain-without-the-clipped-answer": ["stored/refusals-are-gone-on-from-as-held"],
    "chain-of-another-connection": ["stored/a-lost-connection-loses-nothing"],
    "end-of-a-connection-not-known": ["stored/a-chain-stays-on-its-connection"],
}
"""What a chain has once gone on without is missing behind the next abnormal answer as well, and a request on the wrong
connection is refused, so that nothing of the conversation arrives."""


def test_each_requirement_has_a_mutant_of_its_own() -> None:
    every = {one.id for one in load_suite().requirements if one.profile == "stored"}
    assert {mutant.caught_by for mutant in OURS} == every


@pytest.mark.long
@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize("websocket", ADAPTERS)
def test_of_the_profile_nothing_but_its_own_requirement_notices_a_mutant(websocket: bool, tmp_path: Path) -> None:
    only = tuple(mutant.name for mutant in OURS if ("websocket" in mutant.capability) == websocket)
    code = mutants(MutantsOptions(adapter=ADAPTERS[websocket], only=only, out=tmp_path, json=True))
    matrix = json.loads((tmp_path / "mutants.json").read_text())
    rows = matrix["mutants"]
    others = {row["mutant"]: [one for one in row["trips"] if one.startswith("stored/")] for row in rows}
    lived = {row["mutant"]: row["detail"] for row in rows if row["outcome"] != "caught"}
    assert (code, lived) == (Exit.OK, {})
    expected = {name: twice for name, twice in NOTICED_TWICE.items() if name in only}
    assert {name: found for name, found in others.items() if found} == expected
    assert len(rows) == len(only)
