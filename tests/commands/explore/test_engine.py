"""Explorations over real HTTP: our own adapters and session hold, and what was broken on purpose is found.

In this process and with few examples; `nox -s explore` tries thousands.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.verify import verify_run
from turnproof.commands.explore import Exploration, ExploreOptions, explore
from turnproof.judge.run_log import read_run
from turnproof.judge.verdict import Status
from turnproof.report.scenario_copies import scenario_copies
from turnproof.run.evidence import EvidenceStore
from turnproof.scenarios import load


def tried(subject: str, out: Path, examples: int, most: int = 5) -> Exploration:
    return explore(ExploreOptions(subject, examples=examples, most=most, out=out, in_process=True))


@pytest.mark.parametrize("subject", ["anthropic", "reference@google_genai"])
def test_our_own_hold_whatever_happens(subject: str, tmp_path: Path) -> None:
    found = tried(subject, tmp_path, examples=4)
    assert [(one.failures[0].what, one.file) for one in found.findings] == []
    assert (found.exit_code, found.examples) == (Exit.OK, 4)


BROKEN = {
    "history/cancelled-turn-serves-the-next": "stuck-after-a-cancel",
    "core/text-is-what-the-wire-carried": "text-trimmed",
}
"""What catches it, and what is broken: a session, and an adapter."""


@pytest.mark.parametrize("requirement", BROKEN)
def test_what_is_broken_is_found_made_small_and_seen_again_by_certify(requirement: str, tmp_path: Path) -> None:
    subject = f"{__package__}.broken:{BROKEN[requirement].replace('-', '_')}"
    (finding,) = tried(subject, tmp_path, examples=40, most=1).findings
    assert requirement in {failure.what for failure in finding.failures}
    assert len(load(finding.file).turns) <= 2
    options = CertifyOptions(
        (subject,), only=(requirement,), scenarios=(finding.file,), out=tmp_path / "again", in_process=True
    )
    assert certify(options) == Exit.VIOLATIONS
    run = read_run(tmp_path / "again" / "run.ndjson")
    assert Status.VIOLATED in {line.verdict.status for line in run.results}
    assert {line.requirement for line in run.results} == {requirement}
    files = scenario_copies(tmp_path / "again", run.header.files)
    assert verify_run(run, EvidenceStore(tmp_path / "again" / "evidence"), files).problems == ()
