"""A violation on both sides: which of its findings are new, fixed and still there. Words and values decide nothing."""

from __future__ import annotations

import tarfile
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

from turnproof._base.settings import KnownIssue
from turnproof.judge.finding import Finding, Place, Side
from turnproof.judge.known_issues import accept_findings
from turnproof.judge.verdict import MOST_FINDINGS, Status, Verdict, failed, violated
from turnproof.report.certification_diff import Change, Diff, Kind, diff, diff_json
from turnproof.report.finding_changes import FindingChange
from turnproof.run.transcript import RunKey

from .runs import ADAPTER, result, seen_in, write_run
from .test_certification_diff import ORDER, SCHEMA, SEEN, TEXT, a_side, as_report
from .test_earlier_runs import STORED
from .verdicts import OK

LATE, LOSS = f"{ORDER}/late", f"{ORDER}/lost"


def finding(code: str = LATE, run: str = "tools/two", **place: Any) -> Finding:
    where = {"turn": 0, "round": 1, "call": 1, "exchange": 1, "pointer": "/messages/2/content", **place}
    spot = Place(side=where.pop("side", Side.REQUEST), scenario=run, path="legacy", mode="stream", **where)
    return Finding(code=code, place=spot, expected=1, observed=2)


def the_change(tmp_path: Path, before: Verdict, after: Verdict, *, files: bool = False, **later: Any) -> Change:
    """The one change between two runs with these verdicts, which made every run that a finding names."""
    keys = {
        run: RunKey(run.rpartition("/legacy/")[0], "legacy") for verdict in (before, after) for run in verdict.failing
    }
    runs = (SEEN, *keys.values())
    sides = [
        a_side(
            tmp_path / name, [result(TEXT, "legacy", OK), result(ORDER, "legacy", verdict)], **{"runs": runs, **more}
        )
        for name, verdict, more in (("a", before, {}), ("b", after, later))
    ]
    if files:
        sides = [as_report(side, side.name) for side in sides]
    found = diff(*sides)
    jsonschema.validate(msgspec.json.decode(diff_json(found)), SCHEMA)
    (change,) = found.changes
    return change


def codes(findings: tuple[FindingChange, ...]) -> list[str]:
    return [one.code for one in findings]


@pytest.mark.parametrize("files", [False, True], ids=["runs", "files"])
@pytest.mark.parametrize(
    "later",
    [
        finding(),
        replace(finding(), expected="another value", facts={"more": 1}),
        finding(pointer="/messages/14/content"),
        finding(call=7, exchange=9),
        finding(attempt=1),
    ],
    ids=["the same", "other values", "another message", "a later call", "another attempt"],
)
def test_the_same_mistake_is_still_there(tmp_path: Path, later: Finding, files: bool) -> None:
    change = the_change(tmp_path, failed([finding()]), failed([later]), files=files)
    assert change.kind is Kind.STILL
    (still,) = change.still
    assert (still.before, still.after, still.place) == (1, 1, later.place)
    assert (change.new, change.fixed, change.undecided, change.why) == ((), (), (), "")


@pytest.mark.parametrize("files", [False, True], ids=["runs", "files"])
@pytest.mark.parametrize(
    "later",
    [
        finding(LOSS),
        finding(turn=1),
        finding(round=0),
        finding(pointer="/messages/2/role"),
        finding(pointer=None, header="anthropic-beta"),
        finding(side=Side.RESPONSE),
        finding(probe="purity"),
        finding(run="tools/one"),
    ],
    ids=["code", "turn", "round", "field", "header", "side", "probe", "scenario"],
)
def test_another_code_or_place_is_a_change(tmp_path: Path, later: Finding, files: bool) -> None:
    change = the_change(tmp_path, failed([finding()]), failed([later]), files=files)
    assert change.kind is Kind.CHANGED
    assert [one.place for one in change.new] == [later.place]
    assert [one.place for one in change.fixed] == [finding().place]
    assert (change.still, change.undecided) == ((), ())


def test_what_was_found_more_often_is_no_other_mistake(tmp_path: Path) -> None:
    more = [finding(pointer=f"/messages/{n}/content") for n in range(3)]
    change = the_change(tmp_path, failed([finding()]), failed(more))
    assert change.kind is Kind.STILL
    (still,) = change.still
    assert (still.before, still.after) == (1, 3)
    assert (change.before_total, change.after_total) == (1, 3)


def test_one_of_several_that_is_fixed_is_told_beside_those_that_are_not(tmp_path: Path) -> None:
    change = the_change(tmp_path, failed([finding(), finding(LOSS)]), failed([finding()]))
    assert change.kind is Kind.CHANGED
    assert (codes(change.fixed), codes(change.still), codes(change.new)) == ([LOSS], [LATE], [])


@pytest.mark.parametrize(
    ("later", "why"),
    [
        ({"runs": (SEEN,)}, "tools/one/legacy/stream was not run, where it had been seen"),
        ({"adapter": replace(ADAPTER, model="another")}, "with another model"),
        ({"adapter": replace(ADAPTER, dialect="openai-chat")}, "with another dialect"),
    ],
    ids=["run", "model", "dialect"],
)
def test_what_was_not_looked_at_again_is_no_fixed_finding(tmp_path: Path, later: dict[str, Any], why: str) -> None:
    change = the_change(tmp_path, failed([finding(), finding(run="tools/one")]), failed([finding()]), **later)
    assert (change.kind, change.fixed) == (Kind.STILL, ())
    assert [(one.place.run, one.why) for one in change.undecided] == [("tools/one/legacy/stream", why)]


def test_what_the_earlier_run_did_not_look_at_is_no_new_finding(tmp_path: Path) -> None:
    before = a_side(tmp_path / "a", [result(ORDER, "legacy", failed([finding()]))], runs=(SEEN,))
    runs = (SEEN, RunKey("cancel/in_text@3", "legacy"))
    both = failed([finding(), finding(run="cancel/in_text@3")])
    (change,) = diff(before, a_side(tmp_path / "b", [result(ORDER, "legacy", both)], runs=runs)).changes
    assert (change.kind, change.new) == (Kind.STILL, ())
    assert "was not run" in change.undecided[0].why


# -- more findings than a run keeps ------------------------------------------------------------------------------


def crowded(*extra: Finding) -> Verdict:
    """More findings of one kind than are kept, all in one run, and then others."""
    return failed([*(finding(turn=n) for n in range(MOST_FINDINGS + 30)), *extra])


def test_nothing_is_fixed_that_was_merely_beyond_the_cap(tmp_path: Path) -> None:
    """Turn 200 and those behind it are found, and not kept: the later run says nothing of them, but it has them."""
    last = [finding(turn=MOST_FINDINGS + n) for n in range(3)]
    change = the_change(tmp_path, failed(last), crowded())
    assert change.fixed == ()
    assert [one.place.turn for one in change.undecided] == [MOST_FINDINGS + n for n in range(3)]
    assert change.why == f"the later run keeps {MOST_FINDINGS} of {MOST_FINDINGS + 30} findings"
    assert change.after_total == MOST_FINDINGS + 30
    assert "does not keep all findings" in change.undecided[0].why


def test_nothing_is_new_that_was_merely_beyond_the_cap(tmp_path: Path) -> None:
    change = the_change(tmp_path, crowded(), failed([finding(turn=MOST_FINDINGS + 1)]))
    assert change.new == ()
    assert len(change.fixed) == MOST_FINDINGS  # the later run keeps all that it found: those are gone
    assert [one.place.turn for one in change.undecided] == [MOST_FINDINGS + 1]


def test_a_run_of_which_everything_was_kept_is_decided_beside_a_crowded_one(tmp_path: Path) -> None:
    other = finding(LOSS, run="tools/one")
    change = the_change(tmp_path, crowded(other), crowded())
    assert (change.kind, codes(change.fixed)) == (Kind.CHANGED, [LOSS])
    assert len(change.still) == MOST_FINDINGS


# -- what is told in words alone ---------------------------------------------------------------------------------

UNKNOWN_PLACE = violated("it is late")


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (seen_in(violated("late"), SEEN), failed([finding()]), Kind.STILL),
        (failed([finding()]), seen_in(violated("late"), SEEN), Kind.STILL),
        (UNKNOWN_PLACE, failed([finding()]), Kind.STILL),
        (seen_in(violated("late"), SEEN), failed([finding(run="tools/one")]), Kind.CHANGED),
    ],
    ids=["structured since", "words since", "no scenario", "another scenario"],
)
def test_what_is_told_in_words_is_compared_by_its_scenario(
    tmp_path: Path, before: Verdict, after: Verdict, kind: Kind
) -> None:
    change = the_change(tmp_path, before, after)
    assert change.kind is kind
    assert (change.new, change.fixed, change.still, change.undecided) == ((), (), (), ())
    assert "compared by status and scenario" in change.why


def test_a_check_that_tells_in_words_alone_on_both_sides_is_compared_by_its_runs(tmp_path: Path) -> None:
    old, new = (
        seen_in(violated(words), run) for words, run in (("late", SEEN), ("too late", "tools/one/legacy/stream"))
    )
    assert the_change(tmp_path / "same", old, seen_in(violated("other words"), SEEN)).kind is Kind.STILL
    assert the_change(tmp_path / "other", old, new).kind is Kind.CHANGED


def test_a_run_of_the_earlier_format_is_no_change_against_one_of_today(tmp_path: Path) -> None:
    with tarfile.open(STORED) as archive:
        archive.extractall(tmp_path / "run", filter="data")
    (folder,) = (file.parent for file in (tmp_path / "run").rglob("run.ndjson"))
    found = diff(folder, as_of_today(folder, tmp_path / "today"))
    assert found.counts[Kind.CHANGED] == found.counts[Kind.NEW] == found.counts[Kind.FIXED] == 0
    assert found.counts[Kind.STILL] > 0
    back = diff(tmp_path / "today", folder)
    assert back.counts[Kind.CHANGED] == back.counts[Kind.NEW] == back.counts[Kind.FIXED] == 0


def as_of_today(folder: Path, target: Path) -> Path:
    """The same verdicts as this turnproof would write them: each violation with a code and a place."""
    from turnproof.judge.run_log import read_run

    run = read_run(folder / "run.ndjson")
    results = []
    for line in run.results:
        verdict = line.verdict
        if verdict.findings:
            found = replace(verdict.findings[0], code=f"{line.requirement}/wrong", facts={})
            verdict = replace(
                verdict, findings=(replace(found, place=replace(found.place, turn=0, pointer="/a/1")),) * 2
            )
            verdict = replace(verdict, total=2, failing={verdict.where: 2})
        results.append(replace(line, verdict=verdict))
    header = replace(run.header, schema="turnproof.run/2")
    write_run(
        target / "run.ndjson",
        results,
        header=header,
        adapters=list(run.adapters.values()),
        catalogue=list(run.requirements.values()),
        transcripts=run.transcripts,
    )
    return target


def test_a_certification_of_an_earlier_version_has_no_findings_and_shows_no_change(tmp_path: Path) -> None:
    before = as_report(a_side(tmp_path / "a", [result(ORDER, "legacy", failed([finding()]))]), "one")
    report = msgspec.json.decode(before.read_bytes())
    for one in report["adapters"]["anthropic"]["requirements"].values():
        for field in ("findings", "total", "failing", "totals"):
            del one[field]
    before.write_bytes(msgspec.json.encode(report))
    (change,) = diff(before, a_side(tmp_path / "b", [result(ORDER, "legacy", failed([finding(LOSS)]))])).changes
    assert change.kind is Kind.STILL
    assert "compared by status and scenario" in change.why


# -- known issues that name codes --------------------------------------------------------------------------------


def accepting(code: str, verdict: Verdict) -> Verdict:
    return accept_findings(verdict, [KnownIssue("x", ORDER, "legacy", "known", date(2030, 1, 1), code=code)])


def test_a_finding_that_is_accepted_by_its_code_is_still_there(tmp_path: Path) -> None:
    before, after = failed([finding()]), accepting(LATE, failed([finding(), finding(LOSS)]))
    assert after.status is Status.VIOLATED
    change = the_change(tmp_path, before, after)
    assert (change.kind, codes(change.new), codes(change.still)) == (Kind.CHANGED, [LOSS], [LATE])
    assert (change.before_total, change.after_total) == (1, 2)


def test_a_new_code_beside_an_accepted_one_is_a_new_violation(tmp_path: Path) -> None:
    change = the_change(
        tmp_path, accepting(LATE, failed([finding()])), accepting(LATE, failed([finding(), finding(LOSS)]))
    )
    assert (change.kind, codes(change.new), codes(change.still)) == (Kind.NEW, [LOSS], [LATE])
    assert change.why == "it was accepted as a known issue before"


def test_paths_have_findings_of_their_own(tmp_path: Path) -> None:
    """A report has the findings of all paths in one list; each path is compared by those of its own."""

    def side(name: str, legacy: Verdict, stateless: Verdict) -> Path:
        lines = [result(ORDER, "legacy", legacy), result(ORDER, "stateless", stateless)]
        return as_report(a_side(tmp_path / name, lines), name)

    late, loss = failed([finding()]), failed([finding(LOSS)])
    found: Diff = diff(side("a", late, late), side("b", late, loss))
    assert {change.path: change.kind for change in found.changes} == {"legacy": Kind.STILL, "stateless": Kind.CHANGED}
