"""A gate as annotations: what does not hold, beside its lines of source, at the level that the mode gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from turnproof.commands.gates import State, gate_annotations
from turnproof.commands.gates.decision import Spot
from turnproof.commands.gates.model import Regression

from .test_documents import ACCEPTED, CLOSED, CRITERION, NOT_ASKED, UNDECIDED, report

ROOT = Path("/repo")


@pytest.fixture(autouse=True)
def _not_on_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


def levels(mode: str, *steps: Regression) -> dict[str, str]:
    found = report(CRITERION, CLOSED, UNDECIDED, NOT_ASKED, ACCEPTED, mode=mode, regressions=steps)
    return {one.title.partition(" ")[0]: one.level for one in gate_annotations(found, ROOT)}


def test_what_fails_the_job_is_an_error_and_nothing_else_is() -> None:
    gentle = {CLOSED.id: "warning", UNDECIDED.id: "warning", ACCEPTED.id: "notice"}
    assert levels("enforce") == {**gentle, CLOSED.id: "error"}
    assert levels("report") == gentle
    assert levels("shadow") == gentle
    assert levels("shadow", Regression("mine", CLOSED.id, State.OPEN, State.CLOSED)) == {**gentle, CLOSED.id: "error"}


def test_each_line_of_source_gets_its_annotation_with_what_to_do() -> None:
    spots = tuple(Spot(f"/repo/src/{n}.py", n, f"Mine.send_{n}()") for n in range(1, 9))
    found = gate_annotations(report(structs.replace(CLOSED, spots=spots)), ROOT)
    assert [(one.file, one.line) for one in found] == [(f"src/{n}.py", n) for n in range(1, 6)]
    assert found[0].title == "2/paths-agree is closed: mine"
    assert found[0].message.splitlines() == [
        "Mine.send_1()",
        "tools/one, stream: stateless (absent), legacy '41 %'",
        "next: Look at the operation that is named.",
    ]


def test_a_step_back_says_what_it_is() -> None:
    step = Regression("mine", CLOSED.id, State.CLOSED, State.CLOSED, ("Mine.get_history()",))
    (found,) = gate_annotations(report(CLOSED, mode="shadow", regressions=(step,)), ROOT)
    assert found.message.startswith("2/paths-agree of mine was closed already, and has more left: Mine.get_history()\n")


def test_an_open_gate_has_none() -> None:
    found: Any = gate_annotations(report(CRITERION, NOT_ASKED), ROOT)
    assert found == []
