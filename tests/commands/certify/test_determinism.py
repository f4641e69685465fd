"""The same seed gives the same evidence, wherever and beside whatever else the runs are made.

Processes are started here, two or three: what differs between them and a thread is what is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from turnproof.commands.certify.control import certify_controls
from turnproof.judge.requirements import Suite, load_suite
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import EvidenceStore, digest
from turnproof.run.transcript import RunKey
from turnproof.scenarios.loader import from_data
from turnproof.wire.controls import CONTROLS

ANTHROPIC = CONTROLS["anthropic-messages"]

SCRIPT: dict[str, Any] = {
    "title": "A question, a tool, an answer",
    "system": "You keep a greenhouse log.",
    "tools": [{"name": "read_sensor", "description": "Read one sensor", "takes": {"bed": "string"}}],
    "results": {"read_sensor": "41 %"},
    "turns": [
        {
            "user": "How moist is bed 3?",
            "model": [["Let me look.", {"call": "read_sensor", "args": {"bed": "3"}}], ["It is at 41 %."]],
        }
    ],
}


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite()


def certified(folder: Path, suite: Suite, **options: Any) -> Mapping[str, Any]:
    """A small certification: what stands in its result, and the digest of each of its runs by key."""
    with Runner(**options) as runner:
        (result,) = certify_controls(runner, suite, ["anthropic-messages"], EvidenceStore(folder))
    return {"held": result.held, "problem": result.problem, **result.evidence}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory, suite: Suite) -> Mapping[str, Any]:
    return certified(tmp_path_factory.mktemp("first"), suite, in_process=True)


@pytest.mark.parametrize(
    "options", [{"in_process": True}, {"jobs": 1}, {"jobs": 2}], ids=["in process", "one worker", "two workers"]
)
def test_the_same_seed_gives_the_same_evidence(
    options: dict[str, Any], first: Mapping[str, Any], tmp_path: Path, suite: Suite
) -> None:
    assert first["problem"] == ""
    assert certified(tmp_path, suite, **options) == first  # key by key


def test_another_seed_gives_other_evidence(first: Mapping[str, Any], tmp_path: Path, suite: Suite) -> None:
    again = certified(tmp_path, suite, in_process=True, seed=7)
    assert again["held"] == first["held"]
    assert not {key for key in first if "/" in key and again[key] == first[key]}


def run_digest(script: Mapping[str, Any]) -> str:
    scenario = from_data(script, "door")
    with Runner(in_process=True) as runner:
        return digest(runner.run(RunSpec(ANTHROPIC, scenario, RunKey("door", "stateless"))))


@pytest.mark.parametrize(
    "changed",
    [
        {"system": "You keep a greenhouse log!"},
        {"results": {"read_sensor": "42 %"}},
        {"turns": [{**SCRIPT["turns"][0], "user": "How moist is bed 4?"}]},
        {"turns": [{**SCRIPT["turns"][0], "model": [*SCRIPT["turns"][0]["model"][:1], ["It is at 42 %."]]}]},
    ],
    ids=["system", "result", "question", "answer"],
)
def test_one_changed_character_of_a_script_changes_the_digest(changed: dict[str, Any]) -> None:
    assert run_digest(SCRIPT) == run_digest(SCRIPT)
    assert run_digest({**SCRIPT, **changed}) != run_digest(SCRIPT)
