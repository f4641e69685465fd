"""Agents that do what is required hold all of it; what has no process is not judged by what becomes of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from adapters.acp import standin as acp
from adapters.claude_cli import standin as claude

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.commands.certify.verify import verify_run
from turnproof.errors import CassetteError
from turnproof.judge.run_log import read_run
from turnproof.run.evidence import EvidenceStore
from turnproof.session.store.agent import stored_agent
from turnproof_adapters.anthropic.binding import BINDING

pytestmark = pytest.mark.long

STORED = stored_agent(BINDING)
SCHEMA = json.loads((files("turnproof.report") / "certification.schema.json").read_text())
KILLS = {
    "sessions/killed-agent-ends-the-turn",
    "sessions/earlier-turns-survive-a-kill",
    "sessions/loss-is-not-hidden",
}
"""What takes an agent that has processes."""

FEW = ("sessions/*",)
STOPPED = tuple(f"sessions/killed_anywhere#kill@{event}" for event in (0, 3, 6))


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        yield


def certified(folder: Path, *agents: str, **options: Any) -> tuple[int, dict[str, Any]]:
    code = certify(CertifyOptions(adapters=agents, out=folder, **{"scenarios": FEW, "jobs": 2, **options}))
    found: dict[str, Any] = json.loads((folder / "certification.json").read_text())["adapters"]
    return code, found


@pytest.mark.parametrize(
    ("agent", "program"),
    [
        ("adapters.acp.bound:AGENT", f"standin {acp.VERSION}"),
        ("adapters.claude_agent.bound:AGENT", f"Claude Code {claude.VERSION}"),
    ],
    ids=["acp", "claude"],
)
def test_an_agent_behind_a_process_is_certified_and_its_run_verified(agent: str, program: str, tmp_path: Path) -> None:
    code, found = certified(tmp_path, agent, profiles=("sessions", "security"))
    (report,) = found.values()
    entries = [one for one in report["requirements"].values() if one["profile"] == "sessions"]
    assert {one["status"] for one in entries} == {"held"}, [
        one["message"] for one in entries if one["status"] != "held"
    ]
    assert report["profiles"]["sessions"]["must"] == [44, 44]
    assert (report["kind"], report["programs"]) == ("agent", [program])
    assert report["processes"]["started"] > 20
    assert report["processes"]["killed"] > 0
    assert report["processes"]["left"] == 0
    summary = (tmp_path / "summary.md").read_text()
    assert program in summary
    assert "none left behind" in summary
    jsonschema.validate(json.loads((tmp_path / "certification.json").read_text()), SCHEMA)
    assert code == Exit.OK
    assert not verify_run(read_run(tmp_path / "run.ndjson"), EvidenceStore(tmp_path / "evidence")).problems


@pytest.mark.parametrize("agent", ["adapters.acp.bound:AGENT", "adapters.claude_agent.bound:AGENT"])
def test_an_agent_that_is_killed_in_mid_answer_goes_on_with_what_it_had(agent: str, tmp_path: Path) -> None:
    _, found = certified(tmp_path, agent, only=tuple(KILLS), scenarios=STOPPED, depth="full")
    (report,) = found.values()
    assert {name: one["status"] for name, one in report["requirements"].items()} == dict.fromkeys(KILLS, "held")


def test_of_an_agent_without_a_process_nothing_is_said_that_takes_one(tmp_path: Path) -> None:
    processes = {*KILLS, "sessions/no-process-is-left", "sessions/key-is-in-no-command-line"}
    options = {"only": tuple(processes), "scenarios": ("sessions/killed", "sessions/resumed")}
    code, found = certified(tmp_path, "commands.certify.test_certify_agents:STORED", **options)
    (report,) = found.values()
    statuses = {name: one["status"] for name, one in report["requirements"].items()}
    assert statuses.keys() == processes
    assert set(statuses.values()) <= {"inconclusive", "not-claimed"}
    assert code == Exit.UNDECIDED


def test_the_same_agent_gives_the_same_evidence_twice(tmp_path: Path) -> None:
    """Ids, ports, folders and the number of processes are others each time, and say nothing."""
    runs = []
    for name in ("one", "two"):
        certified(tmp_path / name, "adapters.acp.bound:AGENT", scenarios=("sessions/resumed", "sessions/listed"))
        run = read_run(tmp_path / name / "run.ndjson")
        runs.append({str(line.key): line.digest for line in run.transcripts})
    assert runs[0] == runs[1]


def test_what_a_session_must_own_is_not_claimed_of_an_agent_and_the_report_says_why(tmp_path: Path) -> None:
    _, found = certified(tmp_path, "commands.certify.test_certify_agents:STORED", scenarios=("basics/plain",))
    (report,) = found.values()
    wire = report["requirements"]["core/wire-is-what-the-session-holds"]
    assert (wire["status"], wire["message"]) == ("not-claimed", "the agent does not show its provider calls")
    owned = report["requirements"]["history/wire-is-what-the-session-holds"]
    assert owned["status"] == "not-claimed"
    assert owned["message"].startswith("the agent owns the history")


def test_there_are_no_cassettes_of_agents(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="an agent, and no cassettes are kept of agents"):
        certified(tmp_path, "commands.certify.test_certify_agents:STORED", backend="replay")
