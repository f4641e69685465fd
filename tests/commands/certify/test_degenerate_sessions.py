"""Sessions and agents that ask no model hold nothing that takes an answer: eight of them are certified over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.options import CertifyOptions
from turnproof.judge.requirements import load_suite
from turnproof.judge.run_log import Run, read_run
from turnproof.judge.verdict import Status

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

TURNS = ("RAISES", "REFUSES", "ANSWERS_BY_ITSELF", "ECHOES")
OF_SESSIONS = ("faults/refused", "gc/tool_pairs", "history/*", "subagents/*")
OF_AGENTS = ("sessions/*",)
NEED_NO_ANSWER = {
    "sessions/capabilities-are-what-is-claimed",
    "subagents/events-tell-of-each-agent",
    "subagents/who-connects-late-sees-the-agents",
}
"""What they say of themselves, and of children that nobody has spoken to yet."""


def certified(folder: Path, kind: str, scenarios: tuple[str, ...]) -> Run:
    specs = tuple(f"commands.certify.degenerate_sessions:{kind}_{name}" for name in TURNS)
    certify(CertifyOptions(specs, backend="emulate", out=folder, scenarios=scenarios))
    return read_run(folder / "run.ndjson")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        return {
            "SESSION": certified(tmp_path_factory.mktemp("sessions"), "SESSION", OF_SESSIONS),
            "AGENT": certified(tmp_path_factory.mktemp("agents"), "AGENT", OF_AGENTS),
        }


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("kind", ["SESSION", "AGENT"])
def test_who_asks_no_model_holds_nothing_that_takes_an_answer(runs: dict[str, Run], kind: str, name: str) -> None:
    lines = [line for line in runs[kind].results if line.adapter == f"{kind}_{name}".lower()]
    assert len(lines) > 200
    held = {line.requirement for line in lines if line.verdict.status is Status.HELD}
    assert held - NEED_NO_ANSWER == set()


def test_what_they_may_hold_counts_what_is_done_with_them() -> None:
    catalogue = load_suite().catalogue
    assert {catalogue[name].asks for name in NEED_NO_ANSWER} == {"steps"}
    by_default = catalogue["history/reset-empties-it"], catalogue["sessions/deleted-session-is-gone"]
    assert [one.asks for one in by_default] == ["answers", "answers"]
