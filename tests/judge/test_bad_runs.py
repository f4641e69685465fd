"""Folders that are not what a command was told: each is one clear line and the right exit code, whoever reads them."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec
import pytest
from report.runs import ADAPTER, GOOD, HEADER, result, seen_in, write_run
from report.verdicts import BAD, OK

from turnproof._base.settings import KnownIssue
from turnproof.commands.certify.verify import report_agrees
from turnproof.commands.cli import main
from turnproof.judge.known_issues import apply_known_issues
from turnproof.judge.run_log import TranscriptLine
from turnproof.judge.verdict import Status
from turnproof.report.run_folders import run_in
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import Chunk, RunEnded, RunKey, Transcript

READERS = (("report", "RUN"), ("verify", "RUN"), ("diff", "RUN", "good"), ("diff", "good", "RUN"), ("compare", "RUN"))
VERDICTS = READERS[:1] + READERS[2:4]
"""Those that need verdicts on requirements."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a good run in `good`, and the one in question in `run`."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "good" / "run.ndjson", GOOD, exit_code=0)
    return tmp_path


def _nothing(folder: Path) -> None:
    pass


def _empty(folder: Path) -> None:
    folder.mkdir()


def _file(folder: Path) -> None:
    folder.write_text("")


def _gates(folder: Path) -> None:
    folder.mkdir()
    (folder / "gate-1.json").write_text("{}")


def _kills(folder: Path) -> None:
    folder.mkdir()
    (folder / "mutants.json").write_text("{}")


def _scenarios(folder: Path) -> None:
    (folder / "explored").mkdir(parents=True)


def _newer(folder: Path) -> None:
    write_run(folder / "run.ndjson", GOOD)
    file = folder / "run.ndjson"
    file.write_bytes(file.read_bytes().replace(b"turnproof.run/2", b"turnproof.run/3"))


def _headless(folder: Path) -> None:
    write_run(folder / "run.ndjson", GOOD)
    file = folder / "run.ndjson"
    file.write_bytes(file.read_bytes().split(b"\n", 1)[1])


def _damaged(folder: Path) -> None:
    write_run(folder / "run.ndjson", GOOD)
    file = folder / "run.ndjson"
    file.write_bytes(file.read_bytes().replace(b'"status":"held"', b'"status":"heldd"', 1))


def _no_text(folder: Path) -> None:
    folder.mkdir()
    (folder / "run.ndjson").write_bytes(b"\x1f\x8b\x08\x00\xff\xfe\n\n")


BAD_FOLDERS: list[tuple[Callable[[Path], None], str]] = [
    (_nothing, "there is no such folder"),
    (_empty, "has no run.ndjson: nothing was run there"),
    (_gates, "the reports of a gate: its runs are in the folder gate-N"),
    (_kills, "a kill matrix: turnproof mutants makes a new one"),
    (_scenarios, "scenarios that were explored"),
    (_newer, "this run is of format 'turnproof.run/3'; this turnproof reads 'turnproof.run/2' and 'turnproof.run/1'"),
    (_headless, "this is not a run: it has no header line"),
    (_damaged, "is damaged: Invalid enum value 'heldd'"),
    (_no_text, "line 1 is damaged"),
]


@pytest.mark.parametrize("words", READERS, ids=lambda words: "-".join(words))
@pytest.mark.parametrize(
    ("make_folder", "message"), BAD_FOLDERS, ids=[make_folder.__name__.strip("_") for make_folder, _ in BAD_FOLDERS]
)
def test_a_folder_that_is_no_run_is_said_in_one_line(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    make_folder: Callable[[Path], None],
    message: str,
    words: tuple[str, ...],
) -> None:
    if words[0] == "compare" and make_folder is _nothing:
        message = "unknown adapter, session or agent 'run'"  # it may as well be meant as one
    make_folder(folder / "run")
    assert main(["run" if word == "RUN" else word for word in words]) == 2
    out, err = capsys.readouterr()
    line, code = err.splitlines()
    assert out == ""
    assert line.startswith("error: ")
    assert message in line
    assert code == "exit 2: usage, environment or harness fault"


@pytest.mark.parametrize("words", VERDICTS, ids=lambda words: "-".join(words))
@pytest.mark.parametrize("command", ["compare", "gate"])
def test_runs_of_another_command_have_no_verdicts_to_tell(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, words: tuple[str, ...]
) -> None:
    head = msgspec.structs.replace(HEADER, compares="paths", command=("turnproof", command))
    write_run(folder / "run" / "run.ndjson", (), header=head, catalogue=())
    before = set((folder / "run").iterdir())
    assert main(["run" if word == "RUN" else word for word in words]) == 2
    assert "turnproof compare run shows them side by side" in capsys.readouterr().err
    assert set((folder / "run").iterdir()) == before  # no report of nothing was written over anything


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("report", "run"), "This run was cut"),
        (("verify", "run"), "the run was cut: what is there was checked, and it certifies nothing"),
        (("diff", "good", "run"), "the later run was cut"),
        (("diff", "run", "good"), ", cut"),
    ],
)
def test_a_run_that_was_cut_decides_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    """Cut in the middle of a line, as a process is that was killed."""
    write_run(folder / "run" / "run.ndjson", GOOD[:2] if words[0] != "verify" else (), exit_code=None)
    with (folder / "run" / "run.ndjson").open("ab") as file:
        file.write(b'{"line":"result","adapter":"anthro')
    assert main(list(words)) == 3
    assert message in capsys.readouterr().out


def test_a_file_is_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _file(folder / "run")
    assert main(["report", "run"]) == 2
    assert "run is a file: name the folder that has run.ndjson" in capsys.readouterr().err


@pytest.mark.parametrize("words", [one for one in READERS if one[0] != "verify"], ids=lambda words: "-".join(words))
def test_an_edited_line_is_noticed_by_all_who_read_it(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    write_run(folder / "run" / "run.ndjson", GOOD, exit_code=0)
    file = folder / "run" / "run.ndjson"
    file.write_bytes(file.read_bytes().replace(b"claude-sonnet-4-5", b"claude-opus-4-5"))
    assert main(["run" if word == "RUN" else word for word in words]) == 2
    assert "run/run.ndjson was edited since it was written; turnproof verify run tells" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no certification"),
        ('{"schema": "turnproof.certification/2"}', "this turnproof reads 'turnproof.certification/1'"),
        ("{}", "it names no schema"),
    ],
)
def test_a_cell_that_cannot_be_read_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    (folder / "cells" / "one").mkdir(parents=True)
    (folder / "cells" / "one" / "certification.json").write_text(content)
    assert main(["merge", "cells"]) == 2
    line = capsys.readouterr().err.splitlines()[0]
    assert "cells/one/certification.json" in line
    assert message in line
    assert not (folder / "cells" / "matrix.json").exists()


def test_a_report_that_was_edited_is_noticed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "good"]) == 0
    here = Path("good")
    file, run, store = here / "certification.json", run_in(here), EvidenceStore(here / "evidence")
    assert report_agrees(run, store, here) == []
    file.write_text(file.read_text().replace('"certified": true', '"certified": false', 1))
    capsys.readouterr()
    assert main(["verify", "good"]) == 1
    message = "good/certification.json is not what the run comes to: turnproof report good writes it again"
    assert message in capsys.readouterr().out
    file.write_text("{")
    assert "good/certification.json is no certification" in report_agrees(run, store, here)[0]
    file.unlink()
    assert report_agrees(run, store, here) == []


def test_evidence_that_is_gone_is_told_by_verify_and_stops_no_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    transcript_line = TranscriptLine(adapter=ADAPTER.name, key=RunKey("tools/two", "legacy"), digest="0" * 64)
    write_run(folder / "run" / "run.ndjson", [result("core/order-kept", "legacy", BAD)], transcripts=[transcript_line])
    assert main(["report", "run"]) == 0
    assert main(["verify", "run"]) == 1
    assert "evidence 000000000000 is missing: no file run/evidence/" in capsys.readouterr().out


def test_the_page_shows_no_conversation_that_was_edited(folder: Path) -> None:
    transcript = Transcript(
        adapter=ADAPTER.name,
        dialect=ADAPTER.dialect,
        model=ADAPTER.model,
        backend="emulate",
        key=RunKey("tools/two", "legacy"),
        seed=0,
        events=(Chunk(text="good day"), RunEnded(how="completed")),
    )
    store = EvidenceStore(folder / "run" / "evidence")
    line = TranscriptLine(adapter=ADAPTER.name, key=transcript.key, digest=store.put(transcript))
    verdict = seen_in(BAD, transcript.key, evidence=(line.digest,))
    write_run(folder / "run" / "run.ndjson", [result("core/order-kept", "legacy", verdict)], transcripts=[line])
    file = store.path(line.digest)
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()).replace(b"good day", b"go away!")))
    assert main(["report", "run"]) == 0
    page = (folder / "run" / "index.html").read_text()
    assert "was changed: its content has" in page
    assert "go away!" not in page


def test_a_known_issue_that_expired_is_one_line_and_accepts_nothing() -> None:
    issue = KnownIssue(
        adapter="anthropic", requirement="core/x", path="legacy", reason="known", expires=date(2026, 1, 31)
    )
    lines, problems = apply_known_issues([result("core/x", "legacy", BAD)], [issue], date(2026, 11, 22))
    assert lines[0].verdict.status is Status.VIOLATED
    (problem,) = problems
    assert problem.endswith("it expired on 2026-01-31; mend it, or extend it with a reason")
    results, problems = apply_known_issues([result("core/x", "legacy", OK)], [issue], date(2026, 11, 22))
    assert results[0].verdict.status is Status.HELD
    assert len(problems) == 1
