"""Two certifications side by side: what is new, what is fixed, and what only looks as if it were."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.cli import main
from turnproof.errors import UsageError
from turnproof.judge.run_log import AdapterLine, Environment, Header, ResultLine, TranscriptLine
from turnproof.judge.verdict import Status, Verdict, failed, violated
from turnproof.report._inline_text import printable
from turnproof.report.certification import certification, certification_json
from turnproof.report.certification_diff import Diff, Kind, diff, diff_json
from turnproof.report.certification_diff_text import diff_md, print_diff
from turnproof.report.comment import MARKER
from turnproof.run.transcript import RunKey

from .runs import ADAPTER, CATALOGUE, GOOD, HEADER, HOSTILE, RESULTS, result, seen_in, write_run
from .verdicts import BAD, BAD_IN_WORDS, OK, UNCLAIMED, UNSURE

SCHEMA = json.loads((files("turnproof.report") / "diff.schema.json").read_text())
TEXT = "core/text-arrives"
ORDER = "core/order-kept"
SEEN = RunKey("tools/two", "legacy")
ACCEPTED = msgspec.structs.replace(BAD, status=Status.KNOWN_ISSUE, message="accepted until 2027-01-31: known")
OTHER = failed([msgspec.structs.replace(BAD.findings[0], code="core/order-kept/other")])


def a_side(
    folder: Path,
    results: Sequence[ResultLine],
    *,
    runs: Sequence[RunKey] = (SEEN,),
    adapter: AdapterLine = ADAPTER,
    exit_code: int | None = 0,
    program: str = "",
    **head: Any,
) -> Path:
    """A folder with a run of these results, in which these runs were made."""
    transcripts = [TranscriptLine(adapter=adapter.name, key=key, digest=str(key), program=program) for key in runs]
    header = msgspec.structs.replace(HEADER, **head)
    write_run(
        folder / "run.ndjson",
        results,
        header=header,
        adapters=[adapter],
        transcripts=transcripts,
        exit_code=exit_code,
    )
    return folder


def both(tmp_path: Path, before: Verdict | None, after: Verdict | None, **later: Any) -> Diff:
    """The diff of two runs that have these verdicts in one spot, and agree in another."""
    sides = []
    for name, verdict, more in (("a", before, {}), ("b", after, later)):
        results = [result(TEXT, "stateless", OK)]
        results += [result(ORDER, "legacy", verdict)] if verdict is not None else []
        sides.append(a_side(tmp_path / name, results, **more))
    return diff(*sides)


def seen(verdict: Verdict, *runs: RunKey) -> Verdict:
    return seen_in(verdict, runs[0], evidence=tuple(map(str, runs)))


@pytest.mark.parametrize(
    ("before", "after", "kind", "code"),
    [
        (OK, BAD, Kind.NEW, Exit.VIOLATIONS),
        (UNSURE, BAD, Kind.NEW, Exit.VIOLATIONS),
        (UNCLAIMED, BAD, Kind.NEW, Exit.VIOLATIONS),
        (ACCEPTED, BAD, Kind.NEW, Exit.VIOLATIONS),
        (None, BAD, Kind.FOUND, Exit.VIOLATIONS),
        (OK, ACCEPTED, Kind.NEW, Exit.OK),
        (BAD, BAD, Kind.STILL, Exit.OK),
        (BAD, ACCEPTED, Kind.STILL, Exit.OK),
        (BAD, OTHER, Kind.CHANGED, Exit.OK),
        (BAD, violated("in words alone"), Kind.STILL, Exit.OK),
        (violated("it is late"), violated("it arrives late"), Kind.STILL, Exit.OK),
        (BAD, OK, Kind.FIXED, Exit.OK),
        (ACCEPTED, OK, Kind.FIXED, Exit.OK),
        (BAD, UNSURE, Kind.GONE, Exit.OK),
        (BAD, UNCLAIMED, Kind.GONE, Exit.OK),
        (BAD, None, Kind.GONE, Exit.OK),
        (OK, UNSURE, Kind.GONE, Exit.OK),
        (None, OK, Kind.FOUND, Exit.OK),
        (UNSURE, OK, Kind.FOUND, Exit.OK),
        (OK, OK, None, Exit.OK),
        (UNSURE, UNCLAIMED, None, Exit.OK),
        (None, UNSURE, None, Exit.OK),
    ],
)
def test_what_becomes_of_a_verdict(
    tmp_path: Path, before: Verdict | None, after: Verdict | None, kind: Kind | None, code: Exit
) -> None:
    found = both(tmp_path, before, after)
    assert [change.kind for change in found.changes] == ([] if kind is None else [kind])
    assert found.exit_code == code
    assert sum(found.counts.values()) == len(found.changes)


def test_an_accepted_violation_is_the_same_violation(tmp_path: Path) -> None:
    other = msgspec.structs.replace(ACCEPTED, message="accepted until 2027-04-01: still known")
    assert both(tmp_path, ACCEPTED, other).counts[Kind.STILL] == 1


@pytest.mark.parametrize(
    ("later", "why"),
    [
        ({"adapter": msgspec.structs.replace(ADAPTER, model="claude-opus-4-5")}, "with another model"),
        ({"adapter": msgspec.structs.replace(ADAPTER, dialect="openai-chat")}, "with another dialect"),
        (
            {"adapter": msgspec.structs.replace(ADAPTER, backend="replay", recorded="emulated")},
            "with another backend",
        ),
        ({"runs": ()}, "tools/two/legacy/stream was not run, where it had been seen"),
    ],
    ids=["model", "dialect", "backend", "scenario"],
)
def test_what_was_not_looked_at_again_is_never_fixed(tmp_path: Path, later: dict[str, Any], why: str) -> None:
    (change,) = both(tmp_path, seen(BAD, SEEN), OK, **later).changes
    assert (change.kind, change.why) == (Kind.GONE, f"held now, but {why}")


def test_every_run_that_showed_it_has_to_be_made_again(tmp_path: Path) -> None:
    """A quick run that holds where a full one was violated first says nothing of the other places."""
    point = RunKey("cancel/in_text@3", "legacy")
    before = a_side(tmp_path / "a", [result(ORDER, "legacy", seen(BAD, SEEN, point))], runs=(SEEN, point))
    after = a_side(tmp_path / "b", [result(ORDER, "legacy", OK)])
    (change,) = diff(before, after).changes
    assert change.kind is Kind.GONE
    assert f"{point} was not run" in change.why


def test_a_newer_sdk_fixes_what_it_fixes_and_is_told(tmp_path: Path) -> None:
    newer = Environment(python="3.12.1", platform="Linux", packages={"anthropic": "2.13.0", "new": "1"})
    found = both(tmp_path, seen(BAD, SEEN), OK, environment=newer, seed=7, profiles="2026.12")
    assert found.counts[Kind.FIXED] == 1
    changes = {one.what: (one.before, one.after) for one in found.circumstances}
    assert changes == {
        "anthropic": ("2.12.0", "2.13.0"),
        "Python": ("3.11.7", "3.12.1"),
        "seed": ("0", "7"),
        "profiles": ("2026.11", "2026.12"),
    }


def test_a_program_that_has_updated_itself_is_told(tmp_path: Path) -> None:
    results = [result(TEXT, "stateless", OK)]
    sides = [a_side(tmp_path / version, results, program=f"Some Code {version}") for version in ("2.1", "2.2")]
    (circumstance,) = diff(*sides).circumstances
    assert (circumstance.what, circumstance.adapter, circumstance.before, circumstance.after) == (
        "program",
        "anthropic",
        "Some Code 2.1",
        "Some Code 2.2",
    )


def test_an_adapter_that_took_no_part_is_told_once(tmp_path: Path) -> None:
    other = msgspec.structs.replace(ADAPTER, name="openai")
    before = a_side(tmp_path / "a", GOOD)
    after = a_side(tmp_path / "b", [result(TEXT, "stateless", OK, "openai")], adapter=other)
    found = diff(before, after)
    assert {change.why for change in found.of(Kind.GONE)} == {"the adapter took no part"}
    assert [(one.what, one.adapter) for one in found.circumstances] == [("adapter", "anthropic"), ("adapter", "openai")]
    assert found.compared == 0
    assert found.exit_code == Exit.UNDECIDED
    assert "nothing was measured on both sides" in text(found)


@pytest.mark.parametrize("side", ["a", "b"])
def test_a_cut_run_decides_nothing_and_is_told(tmp_path: Path, side: str) -> None:
    codes = {"a": 0, "b": 0, side: None}
    sides = [a_side(tmp_path / name, GOOD[: 9 if name != side else 3], exit_code=codes[name]) for name in "ab"]
    found = diff(*sides)
    assert found.exit_code == Exit.UNDECIDED
    # A long path may have the line broken before the word.
    assert " ".join(text(found).split()).count("Z, cut ") == 1
    assert {change.why for change in found.of(Kind.GONE)} <= {"the later run was cut"}


def test_new_violations_outweigh_a_cut_run(tmp_path: Path) -> None:
    assert both(tmp_path, OK, BAD, exit_code=None).exit_code == Exit.VIOLATIONS


# -- certification.json ------------------------------------------------------------------------------------------


def as_report(folder: Path, name: str, **changes: Any) -> Path:
    """The certification.json of a folder's run, alone in a file."""
    from turnproof.judge.run_log import read_run

    report = msgspec.structs.replace(certification(read_run(folder / "run.ndjson")), **changes)
    file = folder.parent / f"{name}.json"
    file.write_bytes(certification_json(report))
    return file


def test_reports_alone_say_the_same_as_their_runs(tmp_path: Path) -> None:
    one, other = a_side(tmp_path / "a", GOOD), a_side(tmp_path / "b", RESULTS)
    from_runs, from_files = diff(one, other), diff(as_report(one, "one"), as_report(other, "other"))
    assert [(c.kind, c.requirement, c.path) for c in from_runs.changes] == [
        (c.kind, c.requirement, c.path) for c in from_files.changes
    ]
    (bad,) = (change for change in from_files.changes if change.after == Status.VIOLATED)
    assert bad.after_message == BAD_IN_WORDS
    (finding,) = bad.new
    assert (finding.code, finding.place.pointer, finding.got) == (BAD.findings[0].code, "/messages/2", '["c1"]')


def test_a_folder_with_the_report_alone_will_do(tmp_path: Path) -> None:
    run = a_side(tmp_path / "a", GOOD)
    as_report(run, "certification")
    assert diff(tmp_path, run).changes == ()


def test_reports_alone_do_not_hide_that_less_was_run(tmp_path: Path) -> None:
    full = as_report(a_side(tmp_path / "a", [result(ORDER, "legacy", BAD)], depth="full"), "full")
    quick = as_report(a_side(tmp_path / "b", [result(ORDER, "legacy", OK)]), "quick")
    (change,) = diff(full, quick).changes
    assert (change.kind, change.why) == (Kind.GONE, "held now, but at depth quick only")
    limited = a_side(tmp_path / "c", [result(ORDER, "legacy", OK)], depth="full", reproduce=("--scenario", "basics/*"))
    (change,) = diff(full, as_report(limited, "limited")).changes
    assert (change.kind, change.why) == (Kind.GONE, "held now, but with some scenarios only")


# -- what it reads like ------------------------------------------------------------------------------------------


def text(found: Diff, *, verbose: bool = False) -> str:
    out = io.StringIO()
    print_diff(found, out, verbose=verbose)
    return out.getvalue()


def test_what_is_new_is_told_with_both_sides_where_and_how_to_see_it(tmp_path: Path) -> None:
    found = both(tmp_path, OK, seen(BAD, SEEN))
    shown = text(found)
    assert "✗ new (1)\n  anthropic core/order-kept [legacy]\n    finding: A call has no result.\n" in shown
    assert '      expected: results for ["c1", "c2"]\n      got: ["c1"]\n' in shown
    assert f"where: {SEEN}, turn 0 round 1 (call 1), request /messages/2" in shown
    assert "    turnproof certify anthropic --only core/order-kept --scenario tools/two\n" in shown
    assert shown.endswith("1 new, 1 the same\n")


def test_what_changed_is_told_of_both_sides(tmp_path: Path) -> None:
    shown = text(both(tmp_path, seen(BAD, SEEN), seen(OTHER, SEEN)))
    assert "new finding (1):\n    finding: The requirement is not met.\n" in shown
    assert "fixed finding (1):\n    finding: A call has no result.\n" in shown


def test_what_is_still_there_is_told_when_asked(tmp_path: Path) -> None:
    found = both(tmp_path, BAD, BAD)
    assert "A call has no result." not in text(found)
    assert "finding: A call has no result." in text(found, verbose=True)


def test_what_is_told_in_words_alone_is_shown_in_its_words(tmp_path: Path) -> None:
    found = both(tmp_path, violated("it is late"), seen(BAD, SEEN))
    assert "after: A call has no result." in text(found, verbose=True)
    assert "compared by status and scenario" in text(found)


def test_paths_that_say_the_same_share_a_line(tmp_path: Path) -> None:
    sides = [
        a_side(tmp_path / name, [result(ORDER, path, verdict) for path in ("stateless", "legacy")])
        for name, verdict in (("a", OK), ("b", BAD))
    ]
    assert "core/order-kept [stateless, legacy]" in text(diff(*sides))


def test_markdown_and_json_say_the_same(tmp_path: Path) -> None:
    found = both(tmp_path, OK, seen(BAD, SEEN), seed=1)
    written = json.loads(diff_json(found))
    jsonschema.validate(written, SCHEMA)
    assert written["counts"]["new"] == 1
    page = diff_md(found)
    assert "## ✗ new (1)" in page
    assert "| seed | 0 | 1 |" in page
    assert "```sh\nturnproof certify anthropic --only core/order-kept --scenario tools/two\n```" in page


def test_hostile_text_steers_neither_terminal_nor_page(tmp_path: Path) -> None:
    found = both(tmp_path, OK, seen(violated(HOSTILE), SEEN), adapter=ADAPTER, turnproof=HOSTILE)
    for shown in (text(found, verbose=True), diff_md(found)):
        assert printable(shown) == shown
    assert "<script>" not in diff_md(found)


# -- the command, and what it cannot use -------------------------------------------------------------------------


def test_the_command_writes_what_it_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = a_side(tmp_path / "a", GOOD), a_side(tmp_path / "b", RESULTS)
    assert main(["diff", str(one), str(other), "--json", "--out", str(tmp_path / "out")]) == 1
    out, err = capsys.readouterr()
    jsonschema.validate(json.loads(out), SCHEMA)
    assert (tmp_path / "out" / "diff.json").read_text() == out
    assert (tmp_path / "out" / "diff.md").read_text().startswith("# turnproof diff")
    assert (tmp_path / "out" / "comment.md").read_text().startswith(MARKER + "\n")
    assert err.splitlines()[-1] == "exit 1: violations"
    assert main(["diff", str(one), str(one)]) == 0


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("", "", "there is no such folder"),
        ("empty/nothing.txt", "", "has no run.ndjson: nothing was run there"),
        ("other/comparison.json", "{}", "the report of a comparison"),
        ("gates/gate-1.json", "{}", "its runs are in the folder gate-N"),
        ("cells/one/certification.json", "{}", "name one of them"),
        ("explored/x.yaml", "", "scenarios"),
        ("file.json", "{}", "is no certification: it names no schema"),
        ("later.json", '{"schema": "turnproof.certification/2"}', "is of schema 'turnproof.certification/2'"),
        ("broken.json", "{", "is no certification"),
        ("list.json", "[]", "is no certification"),
        ("half.json", '{"schema": "turnproof.certification/1"}', "is no certification"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(tmp_path: Path, file: str, content: str, message: str) -> None:
    path = tmp_path / (file or "nothing")
    if file:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    side = path if file.count("/") == 0 else tmp_path / file.partition("/")[0]
    with pytest.raises(UsageError, match=r"^[^\n]*$") as failure:
        diff(side, side)
    assert message in str(failure.value)


@pytest.mark.parametrize(("command", "what"), [(("turnproof", "gate"), "a gate"), ((), "a comparison")])
def test_the_runs_of_other_commands_have_no_verdicts(tmp_path: Path, command: tuple[str, ...], what: str) -> None:
    header: Header = msgspec.structs.replace(HEADER, compares="paths", command=command)
    write_run(tmp_path / "run.ndjson", (), header=header, catalogue=())
    with pytest.raises(UsageError, match=f"has the runs of {what}, which have no verdicts"):
        diff(tmp_path, tmp_path)


def test_a_verdict_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """Whoever adds a line to a run must not decide by its order which one counts."""
    run = a_side(tmp_path / "a", [result(ORDER, "legacy", BAD), result(ORDER, "legacy", OK)])
    with pytest.raises(UsageError, match="two verdicts on anthropic core/order-kept legacy"):
        diff(run, run)


def test_the_levels_are_told(tmp_path: Path) -> None:
    name = next(line.id for line in CATALOGUE if line.level == "SHOULD")
    sides = [a_side(tmp_path / x, [result(name, "legacy", verdict)]) for x, verdict in (("a", OK), ("b", BAD))]
    assert f"{name} [legacy], SHOULD" in text(diff(*sides))
