"""`run.ndjson`: written line by line, read back whole, and a cut file says that it is cut."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from turnproof.errors import HarnessError, UsageError
from turnproof.judge.run_log import Line, Processes, RunWriter, TranscriptLine, read_run, run_digest
from turnproof.run.tracebacks import Raised
from turnproof.run.transcript import RunKey

from .runs import ADAPTER, CATALOGUE, HEADER, RESULTS, result, write_run
from .verdicts import BAD
from .verdicts import OK as HELD

TRANSCRIPT = TranscriptLine(adapter="anthropic", key=RunKey("plain/hello", "legacy", "batch", 1), digest="d1")


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson", transcripts=[TRANSCRIPT], exit_code=1, problems=("one",))

    assert run.complete
    assert run.header == HEADER
    assert list(run.requirements.values()) == CATALOGUE
    assert run.adapters == {"anthropic": ADAPTER}
    assert run.transcripts == (TRANSCRIPT,)
    assert run.results == tuple(RESULTS)
    assert run.footer is not None
    assert run.footer.problems == ("one",)
    assert run.footer.counts == {"violated": 1, "inconclusive": 2, "known-issue": 0, "held": 6, "not-claimed": 1}
    assert run.digest_of("anthropic", "plain/hello/legacy/batch#1") == "d1"
    assert run.digest_of("anthropic", "plain/hello/legacy/batch") is None


def test_every_line_is_json_that_says_what_it_is(tmp_path: Path) -> None:
    write_run(tmp_path / "run.ndjson")
    lines = [msgspec.json.decode(line) for line in (tmp_path / "run.ndjson").read_bytes().splitlines()]
    assert lines[0]["line"] == "header"
    assert lines[0]["schema"] == "turnproof.run/2"
    assert lines[-1]["line"] == "footer"
    assert {line["line"] for line in lines} == {"header", "requirement", "adapter", "result", "footer"}


def test_a_line_is_on_disk_before_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.ndjson"
    with RunWriter(path) as writer:
        writer.write(HEADER)
        assert path.read_bytes().count(b"\n") == 1
        writer.write(ADAPTER)
        assert path.read_bytes().count(b"\n") == 2


def test_wherever_a_file_is_cut_it_says_so_and_gives_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    write_run(path)
    whole = path.read_bytes()
    header = whole.index(b"\n")
    for cut in range(header, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        run = read_run(path)
        lines = whole[:cut].count(b"\n")
        assert not run.complete
        assert 1 + len(run.requirements) + len(run.adapters) + len(run.results) >= lines


def test_the_digest_depends_on_what_was_found_and_not_on_the_order(tmp_path: Path) -> None:
    def digest(results: list[object]) -> str:
        run = write_run(tmp_path / "run.ndjson", results)  # type: ignore[arg-type]
        assert run.footer is not None
        return run.footer.digest

    assert digest([*RESULTS]) == digest([*reversed(RESULTS)])
    assert digest([*RESULTS]) != digest([*RESULTS[:-1], result("thinking/signature-kept", "stateless", HELD)])


def test_what_stood_behind_an_agent_is_no_part_of_the_digest() -> None:
    with_program = msgspec.structs.replace(TRANSCRIPT, program="Some Code 2.1", processes=Processes(3, 1, 0))
    assert digest_of(with_program) == digest_of(TRANSCRIPT)
    other = msgspec.structs.replace(TRANSCRIPT, digest="d2")
    assert digest_of(other) != digest_of(TRANSCRIPT)


def test_the_lines_of_an_exceptions_frames_are_no_part_of_the_digest() -> None:
    (finding,) = BAD.findings
    raised = [
        msgspec.structs.replace(finding, raised=Raised(type="KeyError", module="builtins", message=message))
        for message in ("a", "b")
    ]
    one, other = (
        result("core/order-kept", "legacy", msgspec.structs.replace(BAD, findings=(each,))) for each in raised
    )
    assert digest_of(one) == digest_of(other)
    moved = msgspec.structs.replace(finding, observed=["c2"])
    assert digest_of(result("core/order-kept", "legacy", msgspec.structs.replace(BAD, findings=(moved,)))) != digest_of(
        one
    )


def digest_of(*lines: Line) -> str:
    return run_digest(msgspec.to_builtins(line) for line in lines)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no header line"),
        (b'{"line":"header', "no header line"),
        (b"[]\n[]\n", "line 1 is damaged"),
        (b'{"line":"adapter","name":"a","spec":"a","dialect":"d","model":"m","backend":"b"}\n', "no header line"),
        (b"%H\n{broken\n%H\n", "line 2 is damaged"),
        (b"%H\n%H\n", "line 2 is damaged: a header in the middle"),
        (b"%H\n%F\n%F\n", "line 2 is damaged: a footer in the middle"),
    ],
)
def test_damage_is_refused_with_its_line(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "run.ndjson"
    write_run(path, ())
    first, *_, last = path.read_bytes().splitlines()
    path.write_bytes(content.replace(b"%H", first).replace(b"%F", last))
    with pytest.raises(UsageError, match=says):
        read_run(path)


def test_a_run_of_another_format_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    write_run(path)
    path.write_bytes(path.read_bytes().replace(b"turnproof.run/2", b"turnproof.run/9"))
    with pytest.raises(
        UsageError, match=r"format 'turnproof.run/9'; this turnproof reads 'turnproof.run/2' and 'turnproof.run/1'"
    ):
        read_run(path)


def test_a_missing_run_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run.ndjson: cannot read the run: No such file"):
        read_run(tmp_path / "run.ndjson")


def test_lines_have_their_order(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run.ndjson") as writer:
        with pytest.raises(HarnessError, match="cannot be written to a run that is new"):
            writer.write(ADAPTER)
        writer.write(HEADER)
        with pytest.raises(HarnessError, match="Header cannot be written to a run that is open"):
            writer.write(HEADER)
        writer.finish(0, 0.0)
        with pytest.raises(HarnessError, match="run that is finished"):
            writer.write(ADAPTER)
