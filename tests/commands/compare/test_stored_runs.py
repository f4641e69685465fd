"""Runs on disk: their paths, and two of them, compared without running anything."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from suites.build import response_with, spoilt
from suites.conversations import plain

from turnproof._base.exit_codes import Exit
from turnproof.commands.compare import CompareOptions, compare
from turnproof.errors import UsageError
from turnproof.judge.run_log import AdapterLine, Environment, Header, RunWriter, TranscriptLine
from turnproof.judge.view import View
from turnproof.messages import Text, TokenUsage
from turnproof.report.comparison import ComparisonReport, Standing
from turnproof.run.evidence import EvidenceStore
from turnproof.run.transcript import Response

NAME = "basics/plain"
HEADER = Header(
    turnproof="0.1.0", profiles="2026.11", backend="emulate", depth="full", seed=0,
    started="2026-11-22T10:00:00+00:00", environment=Environment(python="3.11", platform="Linux"),
)  # fmt: skip


def adapter(name: str, **more: object) -> AdapterLine:
    line = {"spec": name, "dialect": "anthropic-messages", "model": "claude-sonnet-4-5", "backend": "emulate"}
    return AdapterLine(name=name, **(line | more))  # type: ignore[arg-type]


def run(
    folder: Path,
    views: Sequence[View],
    lines: Sequence[AdapterLine] = (adapter("made"),),
    command: tuple[str, ...] = (),
    complete: bool = True,
) -> str:
    """A folder as a certification leaves it. All views are the first adapter's."""
    store = EvidenceStore(folder / "evidence")
    with RunWriter(folder / "run.ndjson") as writer:
        writer.write(
            Header(**{name: getattr(HEADER, name) for name in Header.__struct_fields__} | {"command": command})
        )
        for line in lines:
            writer.write(line)
        for view in views:
            digest = store.put(view.transcript)
            writer.write(TranscriptLine(adapter=lines[0].name, key=view.key, digest=digest))
        if complete:
            writer.finish(0, 1.0)
    return str(folder)


def both(**how: object) -> list[View]:
    return [
        plain(path=path, repeat=repeat, name=NAME, **how)
        for path, repeat in (("stateless", 0), ("legacy", 0), ("legacy", 1))
    ]


def compared(*subjects: str, **options: object) -> ComparisonReport:
    return compare(CompareOptions(subjects, **options))  # type: ignore[arg-type]


def test_the_paths_of_one_run(tmp_path: Path) -> None:
    report = compared(run(tmp_path, both()))
    assert (report.compares, report.left, report.right) == ("paths", "stateless", "legacy")
    assert report.same
    assert [one.standing for one in report.scenarios] == [Standing.EQUAL]


def test_what_was_declared_when_the_run_was_made_counts_with_its_reason(tmp_path: Path) -> None:
    first, *legacy = both()
    views = [first, *(spoilt(view, Response, response_with(usage=TokenUsage())) for view in legacy)]
    declared = adapter("made", declared=("stream-usage-late",), reasons={"stream-usage-late": "the gateway is late"})
    report = compared(run(tmp_path, views, (declared,)))
    assert report.same
    assert {found.reason for found in report.scenarios[0].differences} == {"the gateway is late"}


def test_a_difference_that_the_whole_run_does_not_show_is_stale(tmp_path: Path) -> None:
    declared = (adapter("made", declared=("tool-order",)),)
    assert compared(run(tmp_path / "a", both(), declared)).stale == ("tool-order",)
    limited = run(tmp_path / "b", both(), declared, command=("turnproof", "certify", "--only", "core/*"))
    assert compared(limited).stale == ()
    assert compared(run(tmp_path / "c", both(), declared, complete=False)).stale == ()
    assert compared(str(tmp_path / "a"), scenarios=("basics/*",)).stale == ()


def test_two_runs_are_compared_path_by_path(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    changed = [
        spoilt(view, Response, response_with(parts=(Text("Dry."),))) if view.key.path == "legacy" else view
        for view in both()
    ]
    report = compared(run(before, both()), run(after, changed))
    assert (report.compares, report.left, report.right) == ("runs", str(before), str(after))
    assert [(one.left.key.path, one.standing) for one in report.scenarios] == [
        ("stateless", Standing.EQUAL), ("legacy", Standing.VIOLATED),
    ]  # fmt: skip
    assert compared(str(before), str(after), path="stateless").same


def test_of_two_runs_only_what_both_have_is_compared(tmp_path: Path) -> None:
    left, right = run(tmp_path / "a", both()), run(tmp_path / "b", both(mode="batch"))
    assert compared(left, right).exit_code == Exit.UNDECIDED


def test_a_run_of_several_adapters_needs_a_name(tmp_path: Path) -> None:
    folder = run(tmp_path, both(), (adapter("made"), adapter("other")))
    with pytest.raises(UsageError, match=r"name one of .*@made, .*@other"):
        compared(folder)
    assert compared(f"{folder}@made").same
    with pytest.raises(UsageError, match="no runs of 'mad'; did you mean 'made'"):
        compared(f"{folder}@mad")


def test_what_is_missing_or_damaged_is_said(tmp_path: Path) -> None:
    folder = run(tmp_path, both())
    with pytest.raises(UsageError, match="matches 'basics/plane'; did you mean 'basics/plain'"):
        compared(folder, scenarios=("basics/plane",))
    with pytest.raises(UsageError, match="not with an adapter"):
        compared(folder, "anthropic")
    with pytest.raises(UsageError, match="cannot be compared with itself"):
        compared(folder, path="legacy")
    file = next((tmp_path / "evidence").iterdir())
    text = gzip.decompress(file.read_bytes())
    edited = text.replace(b'"claude-sonnet-4-5', b'"claude-opus-4-5')
    assert edited != text
    file.write_bytes(gzip.compress(edited))
    with pytest.raises(UsageError, match="was changed"):
        compared(folder)
    file.write_bytes(gzip.compress(b"{}"))
    with pytest.raises(UsageError, match="cannot be read"):
        compared(folder)


def test_reports_of_recorded_runs_go_where_they_are_asked_for(tmp_path: Path) -> None:
    compared(run(tmp_path / "a", both()), out=tmp_path / "b")
    assert {path.name for path in (tmp_path / "b").iterdir()} == {"comparison.json", "compare.html"}
