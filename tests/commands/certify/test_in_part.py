"""A run of some scenarios does not say of an accepted violation that it no longer occurs; a run of all of them does."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnproof._base.exit_codes import Exit
from turnproof._base.settings import load_config
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.judge.run_log import read_run

ONE = "core/what-the-service-did-goes-back"
"""A requirement with one scenario, which a quick run has."""

EVERYWHERE = "core/finish-reason-says-why"

ACCEPTED = """
[[known-issue]]
adapter = "anthropic"
requirement = "{requirement}"
path = "stateless"
reason = "it was so once"
expires = 2999-12-31
"""


@pytest.mark.parametrize(
    ("requirement", "scenario", "is_reported"),
    [(ONE, "service/searches", True), (EVERYWHERE, "basics/plain", False)],
    ids=["its-only-scenario", "one-of-many"],
)
def test_only_all_scenarios_of_a_requirement_tell_that_it_is_mended(
    requirement: str, scenario: str, is_reported: bool, tmp_path: Path
) -> None:
    (tmp_path / "turnproof.toml").write_text(ACCEPTED.format(requirement=requirement))
    options = CertifyOptions(
        ("anthropic",),
        only=(requirement,),
        scenarios=(scenario,),
        path="stateless",
        out=tmp_path / "out",
        config=load_config(tmp_path),
        in_process=True,
    )
    code = certify(options)
    run = read_run(tmp_path / "out/run.ndjson")
    assert [line.verdict.status for line in run.results] == ["held"]
    assert run.footer is not None
    assert any("it no longer occurs" in problem for problem in run.footer.problems) is is_reported
    assert code == (Exit.VIOLATIONS if is_reported else Exit.OK)
