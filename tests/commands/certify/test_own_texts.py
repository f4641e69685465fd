"""A session that adds texts of its own is right where it says so, and what it was given is there whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_certify_sessions import FEW, NOT_SHOWN, certified

SESSIONS = "run.driver.reminding_session"
HELD = (
    "core/wire-is-what-the-session-holds",
    "core/system-text-is-sent-each-turn",
    "core/new-message-goes-out-once",
    "history/wire-is-what-the-session-holds",
)


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        yield


@pytest.mark.parametrize("session", ["AROUND", "IN_A_BLOCK"])
def test_texts_of_its_own_violate_nothing(session: str, tmp_path: Path) -> None:
    found = certified(tmp_path, f"{SESSIONS}:{session}", scenarios=FEW, skip=NOT_SHOWN)
    others = {name: one["status"] for name, one in found.report["requirements"].items()}
    assert others.pop("core/connections-are-reused") == "violated"  # the framework opens one for each request
    assert {name: status for name, status in others.items() if status not in ("held", "not-claimed")} == {}
    assert {name: others[name] for name in HELD} == dict.fromkeys(HELD, "held")


@pytest.mark.parametrize(
    ("session", "requirements"),
    [
        ("REPLACED", (HELD[0], HELD[2], HELD[3])),
        ("CUT", (HELD[0], HELD[2], HELD[3])),
        ("OWN_RULES_ALONE", (HELD[0], HELD[1], HELD[3])),
        ("UNDECLARED", (HELD[0], HELD[3])),
    ],
)
def test_what_it_was_given_has_to_be_there(session: str, requirements: tuple[str, ...], tmp_path: Path) -> None:
    scenarios = ("basics/plain", "basics/four_turns", "tools/one")
    found = certified(tmp_path, f"{SESSIONS}:{session}", scenarios=scenarios, only=HELD)
    statuses = {name: one["status"] for name, one in found.report["requirements"].items()}
    assert {name for name, status in statuses.items() if status == "violated"} == set(requirements)


@pytest.mark.long
def test_over_the_quick_depth_it_is_judged_as_the_same_session_without_them(tmp_path: Path) -> None:
    statuses: list[dict[str, str]] = []
    for session in ("run.driver.foreign_session:FOREIGN", f"{SESSIONS}:AROUND", f"{SESSIONS}:IN_A_BLOCK"):
        found = certified(tmp_path / str(len(statuses)), session, scenarios=())
        statuses.append({name: one["status"] for name, one in found.report["requirements"].items()})
    assert "held" in statuses[0].values()
    assert statuses[1] == statuses[0]
    assert statuses[2] == statuses[0]
