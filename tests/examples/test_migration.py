"""`examples/migration`: a framework goes through five phases; each gate is closed before its change and open after it.

Real processes in a copy of the example: what a gate says of a project must not hang on what was imported before.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from .migration_copies import copies_after, run

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "migration"
CHANGES = sorted((EXAMPLE / "changes").glob("*.patch"))
GATING = Path(__file__).with_name("gating.py")

CLOSED_BEFORE = {
    1: {"1/histories-agree"},
    2: {"2/flag-on-is-stateless"},
    3: {"3/every-adapter-has-complete", "3/default-is-stateless", "3/nothing-on-one-path-only"},
    4: {
        "4/legacy-methods-are-gone",
        "4/no-history-in-the-source",
        "4/reset-asks-no-provider",
        "4/reset-empties-the-accounts",
        "4/flag-is-gone",
    },
    5: {
        "5/budget-asks-no-provider",
        "5/save-asks-no-provider",
        "5/cancel-asks-no-provider",
        "5/overflow-asks-no-provider",
        "5/collection-replaces-the-list",
        "5/restore-replaces-the-list",
        "5/session-alone-holds-the-cache-plugin",
        "5/no-provider-in-the-sessions-source",
    },
}
"""What keeps each gate closed before its change."""

Gates = Mapping[tuple[int, int], dict[str, Any]]
"""What the gates said: by the number of changes made, and by phase."""


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The example by itself, and after each of the changes."""
    return copies_after([[change] for change in CHANGES], EXAMPLE, tmp_path_factory.mktemp("migration"))


@pytest.fixture(scope="module")
def gates(projects: list[Path]) -> Gates:
    """Change by change, what the gate of the phase that is due says before and after it."""
    done = run(projects[0], sys.executable, str(GATING), *map(str, projects))
    assert done.returncode == 0, done.stderr
    return {
        (change, phase): json.loads((projects[change] / "reports" / f"gate-{phase}.json").read_text("utf-8"))
        for phase in CLOSED_BEFORE
        for change in (phase - 1, phase)
    }


def criteria(report: dict[str, Any], state: str) -> set[str]:
    """The criteria in this state, of any subject."""
    return {one["id"] for subject in report["subjects"] for one in subject["criteria"] if one["state"] == state}


@pytest.mark.parametrize("phase", CLOSED_BEFORE)
def test_the_gate_is_closed_before_the_change_and_open_after_it(phase: int, gates: Gates) -> None:
    before, after = gates[phase - 1, phase], gates[phase, phase]
    assert before["state"] == "closed"
    assert criteria(before, "closed") >= CLOSED_BEFORE[phase]
    assert criteria(after, "closed") == criteria(after, "undecided") == set()
    assert after["state"] == "open"
    assert criteria(after, "not-asked") <= {f"{phase}/declared-differences-occur"}


@pytest.mark.parametrize(("phase", "subjects"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2)])
def test_the_pilot_goes_first_and_every_provider_follows(phase: int, subjects: int, gates: Gates) -> None:
    assert len(gates[phase, phase]["subjects"]) == subjects


def test_nothing_is_left_in_the_source_when_all_is_done(projects: list[Path]) -> None:
    classes = ("loom.providers:AnthropicProvider", "loom.providers:OpenAIProvider", "loom:Session")
    done = run(projects[-1], sys.executable, "-m", "turnproof", "inventory", *classes)
    assert done.stderr.splitlines() == ["nothing is left", "exit 0: ok"]


def test_the_page_shows_every_change_and_every_criterion_that_is_closed_before_it() -> None:
    page = (EXAMPLE / "README.md").read_text("utf-8")
    for change in CHANGES:
        assert f"changes/{change.name}" in page
    named = set(re.findall(r"\d/[a-z-]+", page))
    assert set().union(*CLOSED_BEFORE.values()) <= named
