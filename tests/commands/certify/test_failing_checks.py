"""A check that fails is nobody's fault but ours: it is told, accuses nobody, and no certificate hides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify import campaign
from turnproof.commands.certify.decide import decide
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.errors import HarnessError
from turnproof.judge.run_log import read_run
from turnproof.judge.verdict import Status


@pytest.mark.parametrize(
    "failing", ["core/finish-reason-says-why", "core/connections-are-reused"], ids=["MUST", "SHOULD"]
)
def test_a_check_that_fails_is_a_fault_of_ours_at_every_level(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def falls_over(requirement: Any, *rest: Any) -> Any:
        if requirement.id == failing:
            raise HarnessError(f"the check of {failing} failed")
        return decide(requirement, *rest)

    monkeypatch.setattr(campaign, "decide", falls_over)
    options = CertifyOptions(
        adapters=("anthropic",), scenarios=("basics/plain",), profiles=("core",), out=tmp_path / "run", in_process=True
    )
    assert certify(options) == Exit.FAULT
    assert f"none of anthropic: the check of {failing} failed" in capsys.readouterr().err
    run = read_run(tmp_path / "run" / "run.ndjson")
    verdicts = {line.verdict.status for line in run.results if line.requirement == failing}
    assert verdicts == {Status.INCONCLUSIVE}
    assert Status.HELD in {line.verdict.status for line in run.results}
