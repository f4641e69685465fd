"""Who asks nobody, or gives no answer, holds nothing that needs it: six such adapters are certified over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.judge.requirements import load_suite
from turnproof.judge.run_log import ResultLine, Run, read_run
from turnproof.judge.verdict import Status

pytestmark = pytest.mark.long

ASK_NOBODY = ("RAISES", "ANSWERS_BY_ITSELF", "ECHOES", "REFUSES_ALL")
NAMES = (*ASK_NOBODY, "RAISES_AFTER_THE_ANSWER", "NEVER_STREAMS")
SCENARIOS = (
    "basics/plain",
    "cancel/in_text",
    "faults/refused",
    "persistence/save_load",
    "tools/one",
)
"""Not `cancel/before_start`: who raises `Cancelled` at a token that is set, or refuses it, has been asked for that."""
NEED_A_STREAM = {
    "streaming/chunks-make-up-the-text",
    "streaming/no-callback-after-the-return",
    "streaming/calls-are-announced-once",
    "streaming/callbacks-follow-the-models-order",
    "thinking/is-passed-on",
    "accounting/updates-never-fall",
    "accounting/response-has-the-last-update",
    "cancellation/partial-text-is-kept",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("degenerate")
    specs = tuple(f"commands.certify.degenerate_bindings:{name}" for name in NAMES)
    assert certify(CertifyOptions(specs, backend="emulate", out=out, scenarios=SCENARIOS)) == 1
    return out


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return read_run(folder / "run.ndjson")


def held_by(run: Run, name: str) -> list[ResultLine]:
    lines = [line for line in run.results if line.adapter == name.lower()]
    assert lines, f"{name} was not judged"
    return [line for line in lines if line.verdict.status is Status.HELD]


@pytest.mark.parametrize("name", ASK_NOBODY)
def test_who_never_asks_the_service_holds_nothing(run: Run, name: str) -> None:
    assert [f"{line.requirement} [{line.path}]" for line in held_by(run, name)] == []


def test_who_loses_every_answer_holds_nothing_that_counts_answers(run: Run) -> None:
    catalogue = load_suite().catalogue
    found = held_by(run, "RAISES_AFTER_THE_ANSWER")
    assert found, "what its requests show is held"
    assert [line.requirement for line in found if catalogue[line.requirement].asks == "answers"] == []


def test_who_never_streams_holds_nothing_that_needs_a_stream(run: Run) -> None:
    found = {line.requirement for line in held_by(run, "NEVER_STREAMS")}
    assert found & NEED_A_STREAM == set()
    assert "core/text-is-what-the-wire-carried" in found


def test_every_held_verdict_says_how_often_the_subject_was_asked(run: Run, folder: Path) -> None:
    assert all(line.verdict.asked for line in run.results if line.verdict.status is Status.HELD)
    adapters = json.loads((folder / "certification.json").read_text())["adapters"]
    entry = adapters["raises"]["requirements"]["core/turns-come-to-an-end"]
    assert (entry["counts"], entry["asked"]) == ("requests", {"stateless": 0, "legacy": 0})
    undecided = adapters["echoes"]["requirements"]["core/system-text-is-sent-each-turn"]["undecided"]
    assert "never-asked" in {one["reason"]["kind"] for one in undecided}
