"""A session with a window is judged by what a window must keep, and accused of nothing that it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from .test_certify_sessions import certified
from .windowed_sessions import CLOSED_MESSAGES

SESSIONS = "commands.certify.windowed_sessions"
OF_WINDOWS = tuple(
    f"history/window-{name}" for name in ("is-bounded", "parts-no-pair", "has-the-running-turn", "is-unbroken")
)
UNDECLARED = replace(CLOSED_MESSAGES, name="undeclared", capabilities=None)
"""The same session, bound by somebody who does not say that it has a window."""


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_path() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2]))
        yield


@pytest.mark.parametrize("session", ["MESSAGES", "CLOSED_TURNS"])
def test_a_window_is_held_and_nothing_else_is_violated(session: str, tmp_path: Path) -> None:
    found = certified(tmp_path, f"{SESSIONS}:{session}", scenarios=("history/window", "basics/four_turns"))
    statuses = {name: one["status"] for name, one in found.report["requirements"].items()}
    assert {name: statuses[name] for name in OF_WINDOWS} == dict.fromkeys(OF_WINDOWS, "held")
    assert [name for name, status in statuses.items() if status == "violated"] == []
    for name in ("history/what-was-said-is-held", "history/wire-is-what-the-session-holds"):
        assert statuses[name] == "held"
    status, message = found.status("persistence/next-request-is-unbroken")
    assert (status, message) == (
        "not-claimed",
        "a window leaves out the beginning of the conversation, which the requirement is about",
    )


def test_a_window_that_nobody_claims_loses_the_history(tmp_path: Path) -> None:
    module = "commands.certify.test_windowed_sessions"
    found = certified(tmp_path, f"{module}:UNDECLARED", scenarios=("history/window",))
    assert found.status("history/wire-is-what-the-session-holds")[0] == "violated"
    assert {found.status(name)[0] for name in OF_WINDOWS} == {"not-claimed"}


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("session", ["CLOSED_MESSAGES", "CLOSED_TURNS", "MESSAGES", "TURNS"])
def test_over_the_quick_depth_a_right_session_with_a_window_violates_nothing(session: str, tmp_path: Path) -> None:
    found = certified(tmp_path, f"{SESSIONS}:{session}", scenarios=())
    statuses = {name: one["status"] for name, one in found.report["requirements"].items()}
    assert {name: status for name, status in statuses.items() if status not in ("held", "not-claimed")} == {}
    assert {name: statuses[name] for name in OF_WINDOWS} == dict.fromkeys(OF_WINDOWS, "held")
