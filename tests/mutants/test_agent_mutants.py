"""Broken agents: each is caught by what it names, and nothing that is required of agents goes without one.

Most is shown on an agent in this process; what is about processes needs one that has some.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.commands.certify.kill_matrix import MOST_OTHERS
from turnproof.commands.certify.mutants import mutants
from turnproof.commands.certify.options import MutantsOptions
from turnproof.judge.requirements import load_suite
from turnproof.run.driver.mutation import Mutant
from turnproof_suites.mutants import MUTANTS

pytestmark = pytest.mark.long

STORED = "session.agents.in_a_child:STORED"
IN_A_CHILD = "session.agents.in_a_child:AGENT"

OURS = tuple(mutant for mutant in MUTANTS if mutant.seam == "agent")

TRIED = OURS if os.environ.get("TURNPROOF_EVERY_MUTANT") else OURS[::3]
"""`nox -s mutants` tries them all, which takes a minute; otherwise every third does."""

ABOUT_PROCESSES = frozenset(
    {
        "sessions/killed-agent-ends-the-turn",
        "sessions/earlier-turns-survive-a-kill",
        "sessions/loss-is-not-hidden",
        "sessions/no-process-is-left",
        "sessions/key-is-in-no-command-line",
    }
)


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_path() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1]))
        yield


def run(out: Path, subject: str, chosen: Iterable[Mutant]) -> tuple[int, dict[str, Any]]:
    only = tuple(mutant.name for mutant in chosen)
    code = mutants(MutantsOptions(adapter=subject, only=only, out=out, json=True))
    return code, json.loads((out / "mutants.json").read_text())


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize(("subject", "of_processes"), [(STORED, False), (IN_A_CHILD, True)])
def test_each_is_caught_by_what_it_names_and_by_few_others(subject: str, of_processes: bool, tmp_path: Path) -> None:
    chosen = [mutant for mutant in TRIED if (mutant.caught_by in ABOUT_PROCESSES) == of_processes]
    code, matrix = run(tmp_path, subject, chosen)
    lived = {row["mutant"]: row["detail"] for row in matrix["mutants"] if row["outcome"] != "caught"}
    coarse = {row["mutant"]: row["trips"] for row in matrix["mutants"] if len(row["trips"]) > MOST_OTHERS}
    assert (code, lived, coarse, matrix["control"]) == (Exit.OK, {}, {}, {})
    assert len(matrix["mutants"]) == len(chosen)


def test_all_that_is_required_of_agents_has_an_agent_that_breaks_it() -> None:
    requirement_ids = {one.id for one in load_suite().requirements if one.subject == "agent"}
    assert requirement_ids == {mutant.caught_by for mutant in OURS}


@pytest.mark.usefixtures("capsys")
def test_an_agent_is_broken_as_an_agent_and_by_nothing_else(tmp_path: Path) -> None:
    others = [mutant for mutant in MUTANTS if mutant.name in {"stop-not-heard", "call-ids-replaced"}]
    code, matrix = run(tmp_path, STORED, others)
    assert (code, matrix["counts"]) == (Exit.UNDECIDED, {"not-claimed": 2})
    assert all("name one instead of an agent" in row["detail"] for row in matrix["mutants"])


@pytest.mark.usefixtures("capsys")
@pytest.mark.parametrize("subject", ["anthropic", "run.driver.foreign_session:FOREIGN"])
def test_what_breaks_agents_breaks_nobody_else(subject: str, tmp_path: Path) -> None:
    code, matrix = run(tmp_path, subject, OURS[:2])
    assert (code, matrix["counts"]) == (Exit.UNDECIDED, {"not-claimed": 2})
