"""The summary at the end of a run: one screen, the first violation in full, and where to read on."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.judge.run_log import AdapterLine, ResultLine, Run
from turnproof.judge.verdict import Status, Verdict
from turnproof.report import certification, print_summary
from turnproof.report.failures import failures
from turnproof.report.html import anchor
from turnproof.run.tracebacks import Frame, Raised

from .runs import ADAPTER, CATALOGUE, GOOD, RESULTS, requirement, result, seen_in, write_run
from .verdicts import BAD, MISSING, OK, UNSURE

SCREEN = 40


def shown(run: Run, **more: Any) -> str:
    out = io.StringIO()
    print_summary(run, certification(run), out, **more)
    return out.getvalue()


def on_a_terminal(run: Run, columns: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a terminal of that width shows, without its colours."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    out = Terminal()
    print_summary(run, certification(run), out, folder=Path("reports"))
    return re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def many(tmp_path: Path, adapters: int, results: Sequence[ResultLine] = tuple(GOOD)) -> Run:
    """A run in which many adapters have the same results."""
    lines: list[AdapterLine] = [msgspec.structs.replace(ADAPTER, name=f"adapter{n}") for n in range(adapters)]
    every = [msgspec.structs.replace(one, adapter=line.name) for line in lines for one in results]
    return write_run(tmp_path / "run.ndjson", every, adapters=lines)


def test_the_summary_is_plain_behind_a_pipe(tmp_path: Path) -> None:
    text = shown(write_run(tmp_path / "run.ndjson", problems=("known issue x expired",)))
    assert "\x1b" not in text
    assert "problem: known issue x expired" in text


def test_the_first_violation_is_told_in_full(tmp_path: Path) -> None:
    name = "tools/results-answer-every-call"
    verdict = seen_in(BAD, "tools/two/legacy/stream")
    catalogue = [
        *CATALOGUE[:3],
        requirement(
            name,
            provider="The API pairs by id.",
            code="The adapter drops results of one name.",
            title="All answered",
            findings={f"{name}/missing": MISSING},
        ),
        CATALOGUE[-1],
    ]
    run = write_run(tmp_path / "run.ndjson", [result(name, "legacy", verdict)], catalogue=catalogue)
    text = re.sub(r" +\n", "\n", shown(run, folder=Path("out")))
    assert f"✗ violated {name} [legacy] of anthropic\n" in text
    for row in (
        "  requirement        All answered\n",
        "  finding            A call has no result.\n",
        '  expected           results for ["c1", "c2"]\n',
        '  got                ["c1"]\n',
        "  where              tools/two/legacy/stream, turn 0 round 1 (call 1), request /messages/2\n",
        "  scenarios          tools/two\n",
        "  why                The provider refuses the next request.\n",
        "  what the API does  The API pairs by id.\n",
        "  likely cause       The adapter drops results of one name.\n",
        f"  reproduce          turnproof certify anthropic --only {name} --scenario tools/two\n",
        f"  report             out/index.html#{anchor('anthropic', name)}\n",
    ):
        assert row in text


def test_a_must_is_told_before_a_should(tmp_path: Path) -> None:
    results = [result("core/nice-names", "legacy", BAD), result("core/order-kept", "legacy", BAD)]
    run = write_run(tmp_path / "run.ndjson", results)
    assert [one.requirement.id for one in failures(run, Status.VIOLATED)] == ["core/order-kept", "core/nice-names"]
    text = shown(run)
    assert "✗ violated core/order-kept [legacy] of anthropic" in text
    assert "also violated (1)\n  ✗ core/nice-names [legacy], SHOULD\n      finding   A call has no result." in text


def test_paths_of_one_requirement_share_a_line(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run.ndjson", [result("core/order-kept", path, BAD) for path in ("stateless", "legacy")])
    (failure,) = failures(run, Status.VIOLATED)
    assert failure.name == "core/order-kept [stateless, legacy]"


def test_a_healthy_run_of_nine_adapters_fits_a_screen(tmp_path: Path) -> None:
    lines = shown(many(tmp_path, 9)).splitlines()
    assert len(lines) <= SCREEN
    assert "✓ adapter3  certified  3/3 of 4     1/1  claude-sonnet-4-5" in "\n".join(lines)
    assert "MUST held core tool" in "\n".join(lines)


def test_of_fifty_violations_a_dozen_are_told_with_both_sides_and_where_the_others_are(tmp_path: Path) -> None:
    catalogue = [requirement(f"core/x{n}") for n in range(50)]
    run = write_run(tmp_path / "run.ndjson", [result(one.id, "legacy", BAD) for one in catalogue], catalogue=catalogue)
    text = shown(run, folder=Path("my reports"))
    assert text.count("expected") == 13
    assert "  and 37 more: turnproof report 'my reports' -v\n" in text
    assert "50 verdicts (50 violated)" in text
    assert text.count("✗ violated") == 1
    assert shown(run, verbose=True).count("✗ violated") == 50


def test_all_details_are_told_when_asked(tmp_path: Path) -> None:
    results = [result(name, "legacy", BAD) for name in ("core/order-kept", "core/text-arrives")]
    text = shown(write_run(tmp_path / "run.ndjson", results), verbose=True)
    assert text.count("  why ") == 2
    assert "  turnproof certify anthropic --only core/text-arrives\n" in text


def test_a_cause_that_fails_several_requirements_is_told_once_in_front(tmp_path: Path) -> None:
    (finding,) = BAD.findings
    follows = msgspec.structs.replace(BAD, findings=(msgspec.structs.replace(finding, root="raised:KeyError@a.py:7"),))
    results = [result(name, "legacy", follows) for name in ("core/order-kept", "core/text-arrives")]
    text = shown(write_run(tmp_path / "run.ndjson", [*results, result("core/nice-names", "legacy", BAD)]))
    cause = "2 requirements fail because the adapter raised KeyError at a.py:7:\n  core/order-kept, core/text-arrives"
    assert text.count(cause) == 1


def test_one_mistake_in_many_places_of_requests_is_one_cause_and_that_of_most_requirements_is_first(
    tmp_path: Path,
) -> None:
    (finding,) = BAD.findings

    def following(*roots: str) -> Verdict:
        return msgspec.structs.replace(
            BAD, findings=tuple(msgspec.structs.replace(finding, root=root) for root in roots)
        )

    refused = [f"refused:chat/tool-name:$.tools[].{place}" for place in ("name", "title", "function.name")]
    raised = "raised:KeyError@a.py:7"
    results = [
        result("core/order-kept", "legacy", following(*refused, raised)),
        result("core/text-arrives", "legacy", following(*refused, raised)),
        result("core/nice-names", "legacy", following(raised)),
    ]
    text = shown(write_run(tmp_path / "run.ndjson", results))
    causes = [line for line in text.splitlines() if " fail because " in line]
    assert causes == [
        "3 requirements fail because the adapter raised KeyError at a.py:7:",
        "2 requirements fail because the API refuses the request (chat/tool-name):",
    ]


def test_an_exception_that_is_no_error_of_the_contract_is_a_cause(tmp_path: Path) -> None:
    (finding,) = BAD.findings
    frame = Frame(file="my_pkg/adapter.py", line=7, function="complete", owner="subject")

    def raising(module: str) -> Verdict:
        raised = Raised(type="LookupFailed", module=module, frames=(frame,))
        return msgspec.structs.replace(BAD, findings=(msgspec.structs.replace(finding, raised=raised),))

    for module, is_cause in (("my_pkg", True), ("turnproof.errors", False)):
        results = [result(name, "legacy", raising(module)) for name in ("core/order-kept", "core/text-arrives")]
        text = shown(write_run(tmp_path / f"{module}.ndjson", results))
        cause = "2 requirements fail because the adapter raised LookupFailed at my_pkg/adapter.py:7:"
        assert (cause in text) is is_cause


def test_no_name_is_broken_in_the_middle_at_eighty_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = [f"sessions/a_rather_long_name_number_{number}" for number in range(9)]
    verdict = msgspec.structs.replace(BAD, failing={f"{name}/legacy/stream": 1 for name in scenarios})
    run = write_run(tmp_path / "run.ndjson", [result("tools/results-answer-every-call", "legacy", verdict)])
    for columns in (80, 120):
        text = on_a_terminal(run, columns, monkeypatch)
        assert all(name in text for name in (*scenarios, "tools/results-answer-every-call"))


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    (finding,) = BAD.findings
    wide = msgspec.structs.replace(BAD, findings=(msgspec.structs.replace(finding, observed="long " * 100),))
    results = [*GOOD[:-2], result("tools/results-answer-every-call", "legacy", wide), GOOD[-1]]
    text = on_a_terminal(many(tmp_path, 3, results), columns, monkeypatch)
    marks = ("turnproof certify", "turnproof reproduce", "index.html#")
    copied = [line for line in text.splitlines() if any(mark in line for mark in marks)]
    assert len(copied) == 3
    assert all(len(line) <= columns for line in text.splitlines() if line not in copied)
    assert all(f"adapter{number}" in text for number in range(3))
    assert ("claude-sonnet" in text) is (columns == 120)


def test_colour_needs_a_terminal_and_respects_no_color(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    run = write_run(tmp_path / "run.ndjson")
    monkeypatch.setenv("TERM", "xterm-256color")
    for names, coloured in (((), True), (("NO_COLOR",), False)):
        monkeypatch.delenv("NO_COLOR", raising=False)
        for name in names:
            monkeypatch.setenv(name, "1")
        out = Terminal()
        print_summary(run, certification(run), out)
        assert ("\x1b[1;31m" in out.getvalue()) is coloured


def test_profiles_that_were_left_out_take_one_line(tmp_path: Path) -> None:
    text = shown(write_run(tmp_path / "run.ndjson", [result("core/text-arrives", "stateless", OK)]))
    assert "not measured: tools, thinking\n" in text
    assert re.search(r"(?m)^core +1/1 of 2 +0/0 +1 MUSTs not measured *$", text)


def test_of_a_few_results_each_is_told_and_of_many_the_failures(tmp_path: Path) -> None:
    held_in_two = msgspec.structs.replace(
        OK, compared=("a/stateless/stream: 1 request", "b/stateless/stream: 1 request")
    )
    few = [result("core/text-arrives", "stateless", held_in_two), *RESULTS[1:]]
    text = shown(write_run(tmp_path / "few.ndjson", few))
    assert (
        "✓ held core/text-arrives [stateless]\n  a/stateless/stream: 1 request (and in 1 more)\n"
        "✓ held core/text-arrives [legacy]\n  1 request\n"
    ) in text
    assert "– not claimed thinking/signature-kept [stateless]\n  needs thinking\n" in text
    more = [*RESULTS, *(result("core/nice-names", path, OK) for path in ("legacy", "parity", "again"))]
    text = shown(write_run(tmp_path / "many.ndjson", more))
    assert "✗ violated tools/results-answer-every-call [legacy]" in text
    assert "✓ held" not in text


def test_undecided_and_accepted_results_have_a_line_each(tmp_path: Path) -> None:
    accepted = Verdict(Status.KNOWN_ISSUE, message="accepted until 2027-01-31: known")
    results = [result("core/order-kept", "legacy", UNSURE), result("core/text-arrives", "legacy", accepted)]
    text = shown(write_run(tmp_path / "run.ndjson", results))
    assert "? inconclusive core/order-kept [legacy] of anthropic" in text
    assert "no run had anything to compare" in text
    assert "known issue (1)\n  ! core/text-arrives [legacy]\n      why  accepted until 2027-01-31: known" in text


@pytest.mark.parametrize(
    ("results", "code", "words"),
    [
        (GOOD, 0, "✓ anthropic is certified. Emulated at depth quick, against profiles 2026.11, on 21 November 2026."),
        (RESULTS, 1, "✗ anthropic is not certified: 1 requirement violated. Emulated at depth quick, against"),
        (GOOD, None, "? This run was cut"),
        ((), 3, "? Nothing was measured"),
    ],
)
def test_the_first_line_says_it_all(
    tmp_path: Path, results: Sequence[ResultLine], code: int | None, words: str
) -> None:
    text = shown(write_run(tmp_path / "run.ndjson", results, exit_code=code))
    assert text.splitlines()[1].startswith(words)


def test_a_run_that_was_cut_before_anything_was_judged_says_only_that(tmp_path: Path) -> None:
    adapters = [msgspec.structs.replace(ADAPTER, name=name) for name in ("one", "other")]
    text = shown(write_run(tmp_path / "run.ndjson", (), adapters=adapters, exit_code=None))
    assert "? one    unknown" in text
    assert "MUST held" not in text
    assert "no verdicts from 0 runs" in text
