"""Runs of the earlier format, `turnproof.run/1`, as turnproof 0.1.0 wrote them: every reader takes them still.

The stored one is of an adapter that quotes text results on its stateless path.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from turnproof.commands.cli import main
from turnproof.judge.run_log import Run, read_run
from turnproof.judge.verdict import Status, Verdict

STORED = Path(__file__).parent / "earlier" / "run-1.tar.gz"
QUOTED = "tools/string-results-go-out-unquoted"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(STORED) as archive:
        archive.extractall(tmp_path / "run", filter="data")
    return tmp_path / "run"


def test_its_violations_are_findings_in_free_words(folder: Path) -> None:
    run = read_run(folder / "run.ndjson")
    assert run.header.schema == "turnproof.run/1"
    assert run.complete
    verdict = verdict_on(run, QUOTED)
    (finding,) = verdict.findings
    assert finding.code == f"{QUOTED}/unstructured"
    assert finding.place.run == "tools/one/stateless/batch"
    assert verdict.total > 1
    assert "the tool returned '41 %', the wire carried" in run.message(verdict)


def test_nothing_of_it_was_changed_by_reading(folder: Path) -> None:
    run = read_run(folder / "run.ndjson")
    assert run.footer is not None
    assert run.digest == run.footer.digest
    assert [line for line in run.results if line.verdict.empty]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("report", "run"), 0, "the tool returned '41 %'"),
        (("verify", "run"), 0, "verdicts checked"),
        (("diff", "run", "run"), 0, "the same"),
    ],
)
def test_every_reader_takes_it(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(folder.parent)
    assert main(words) == code
    out, err = capsys.readouterr()
    assert message in out + err


def test_it_can_be_merged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    assert main(["merge", "."]) == 1
    assert "10/14" in (folder.parent / "matrix.md").read_text()


def verdict_on(run: Run, requirement: str) -> Verdict:
    (found,) = (
        line.verdict
        for line in run.results
        if line.requirement == requirement and line.verdict.status is Status.VIOLATED
    )
    return found
