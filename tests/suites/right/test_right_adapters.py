"""Adapters that are right in an unusual way: nothing that was held without them is undecided or violated with them."""

from __future__ import annotations

import json
import re

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.options import MutantsOptions
from turnproof.commands.certify.right import right, right_adapters
from turnproof.commands.certify.scenarios import suite_scenarios
from turnproof.commands.cli import main
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import load_suite
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.driver.mutation import mutant_named
from turnproof.run.transcript import RunKey, WireRequest
from turnproof_suites.right.vendor_schemas import illegal_places


def test_a_sample_is_accused_of_nothing_and_changes_what_goes_over_the_wire(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("tools-prefixed", "schemas-titled", "usage-once", "finish-by-the-word", "errors-of-own-classes")
    code = right(MutantsOptions(adapter="openai", only=names, json=True))
    rows = json.loads(capsys.readouterr().out)
    assert code == Exit.OK
    assert {row["adapter"] for row in rows} == set(names)
    assert [row["accused"] for row in rows] == [{}] * 5
    assert all(row["changed"] > 0 for row in rows)


def test_a_right_adapter_that_the_claims_leave_out_is_said_to_be_so(capsys: pytest.CaptureFixture[str]) -> None:
    code = right(MutantsOptions(adapter="openai", only=("signatures-*",)))
    assert code == Exit.UNDECIDED
    assert "– signatures-under-another-key: not claimed: thinking" in capsys.readouterr().out


@pytest.mark.parametrize("subject", ["anthropic", "google_genai", "openai"])
def test_their_requests_are_legal_by_what_the_vendor_publishes(subject: str) -> None:
    scenario = next(one for one in suite_scenarios(load_suite()) if one.name == "tools/one")
    specs = [
        RunSpec(subject, scenario, RunKey(scenario.name, "stateless", "batch"), name)
        for name, mutant in right_adapters().items()
        if mutant.applies_to(scenario.name, "stateless")
    ]
    with Runner(jobs=2) as runner:
        transcripts = [runner.run(spec) for spec in specs]
    for spec, transcript in zip(specs, transcripts, strict=True):
        bodies = [one for one in transcript.of(WireRequest) if one.operation == "generate"]
        assert len(bodies) >= 2, spec.mutant
        illegal = [place for one in bodies for place in illegal_places(transcript.dialect, one.body, one.headers)]
        assert illegal == [], spec.mutant


@pytest.mark.parametrize("wrong", [("--combine", "2"), ("--right", "--out", "reports")])
def test_options_that_do_not_go_together_are_refused(wrong: tuple[str, ...]) -> None:
    assert main(["mutants", "openai", *wrong]) == Exit.FAULT


def test_an_unknown_name_has_a_hint() -> None:
    with pytest.raises(CatalogueError, match=re.escape("no right adapter matches 'tools-prefix'")):
        right(MutantsOptions(adapter="openai", only=("tools-prefix",)))


def test_two_at_once_are_one_mutant_with_the_paths_of_both() -> None:
    names = {mutant.name: name for name, mutant in right_adapters().items()}
    both = mutant_named(f"{names['schemas-closed']}+{names['tools-prefixed']}")
    assert both.paths == ("stateless",)
    assert both.wrap is not None
    assert both.filter is not None


def test_each_says_what_it_does_and_where_it_shows() -> None:
    for mutant in right_adapters().values():
        assert mutant.breaks.endswith(".")
        assert mutant.scenarios
