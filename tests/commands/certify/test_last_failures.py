"""`certify --failed`: what was violated or undecided last time, and nothing else."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from report.runs import ADAPTER, CATALOGUE, HEADER, result, seen_in, write_run
from report.verdicts import BAD, OK, UNSURE

from turnproof.commands.certify.last_failures import PART, failed_last_time
from turnproof.errors import UsageError
from turnproof.judge.requirements import load_suite
from turnproof.judge.run_log import ResultLine

NAME = "tools/results-answer-every-call"
SEEN = seen_in(BAD, "tools/two/legacy/stream")


def of(folder: Path, *adapters: str) -> tuple[tuple[str, ...], ...]:
    found = failed_last_time(folder, adapters, load_suite().catalogue)
    return found.adapters, found.requirements, found.scenarios


def test_it_is_what_was_violated_with_the_scenarios_it_was_seen_in(tmp_path: Path) -> None:
    lines = [result(NAME, "legacy", SEEN), result("core/text-arrives", "legacy", OK)]
    write_run(tmp_path / "run.ndjson", lines)
    assert of(tmp_path) == (("anthropic",), (NAME,), ("tools/two",))


def test_a_point_of_a_sweep_and_somebodys_own_file_are_named_as_they_are_asked_for(tmp_path: Path) -> None:
    header = msgspec.structs.replace(HEADER, files=("/home/me/mine.yaml",))
    lines = [
        result(NAME, "legacy", seen_in(BAD, "tools/two#12/legacy/stream")),
        result(NAME, "stateless", seen_in(BAD, "mine/stateless/stream")),
    ]
    write_run(tmp_path / "run.ndjson", lines, header=header)
    assert of(tmp_path)[2] == ("/home/me/mine.yaml", "tools/two#12")


def test_of_what_was_undecided_all_that_may_show_it_is_measured(tmp_path: Path) -> None:
    write_run(tmp_path / "run.ndjson", [result("core/turns-come-to-an-end", "legacy", UNSURE)])
    assert of(tmp_path) == (("anthropic",), ("core/turns-come-to-an-end",), ("*",))


def test_what_a_later_run_of_a_part_has_mended_is_not_measured_again(tmp_path: Path) -> None:
    import os

    write_run(tmp_path / "run.ndjson", [result(NAME, "legacy", SEEN), result("core/text-arrives", "legacy", SEEN)])
    part = tmp_path / PART / "run.ndjson"
    write_run(part, [result(NAME, "legacy", OK)])
    os.utime(tmp_path / "run.ndjson", (1, 1))
    assert of(tmp_path)[1] == ("core/text-arrives",)
    os.utime(part, (0, 0))  # older than the whole
    assert of(tmp_path)[1] == (NAME, "core/text-arrives")


def test_where_nothing_failed_there_is_nothing(tmp_path: Path) -> None:
    write_run(tmp_path / "run.ndjson", [result(NAME, "legacy", OK)])
    assert of(tmp_path) == ((), (), ())


def test_only_the_adapters_that_were_asked_for_count(tmp_path: Path) -> None:
    other = msgspec.structs.replace(ADAPTER, name="other", spec="mine:OTHER")
    lines: list[ResultLine] = [result(NAME, "legacy", SEEN), result(NAME, "legacy", SEEN, adapter="other")]
    write_run(tmp_path / "run.ndjson", lines, adapters=(ADAPTER, other), catalogue=CATALOGUE)
    assert of(tmp_path, "mine:OTHER")[0] == ("mine:OTHER",)
    with pytest.raises(UsageError, match="'nobody' takes no part in the run"):
        of(tmp_path, "nobody")


def test_without_a_run_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing was run there"):
        of(tmp_path)
