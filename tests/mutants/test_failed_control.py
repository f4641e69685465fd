"""A control whose service failed: what it leaves undecided, no mutant is counted for."""

from __future__ import annotations

import pytest
from suites.build import RunBuilder, scripted

from turnproof.commands.certify.kill_matrix import Bench, Judge, Outcome
from turnproof.judge.requirements import load_suite
from turnproof.run.bindings import resolve_subject
from turnproof.run.driver.mutation import all_mutants

MUTANT = all_mutants()["only-first-text-kept"]


@pytest.mark.parametrize(("how", "expected"), [("service-fault", Outcome.NO_CONTROL), ("completed", Outcome.NEVER_RAN)])
def test_a_run_that_goes_well_where_the_service_failed_the_control_is_no_crash(how: str, expected: Outcome) -> None:
    """A request without the picture is answered by a service that fails at pictures."""
    conversation = RunBuilder(scripted(["Bed 3 is moist."], user="Hi."), name=MUTANT.scenarios[0])
    conversation.turn("Hi.").call("Bed 3 is moist.").end()
    control, broken = conversation.view(how=how), conversation.view()
    requirement = load_suite().catalogue[MUTANT.caught_by]
    judge = Judge(Bench(resolve_subject("anthropic"), (requirement,), {control.key: control}))
    found = judge.row(MUTANT, {broken.key: broken})
    assert found.outcome is expected, found.detail
