"""Sources of sessions: what is newest, what is listed, and what stays when resuming fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from turnproof.errors import HarnessError
from turnproof.sessions import (
    SessionCapabilities,
    SessionInfo,
    SessionLister,
    SessionPage,
    SessionSource,
    SessionSourceBase,
    every_session,
    newest,
)

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


class Agent(SessionSourceBase):
    """An agent program with some sessions, a page each, in an order of its own."""

    def __init__(self, *sessions: SessionInfo, broken: str = "", can: SessionCapabilities | None = None) -> None:
        super().__init__()
        self.sessions = sessions
        self.broken = broken
        self.history = ""
        self._can = can or SessionCapabilities(can_list=True, can_load=True, can_continue_last=True)

    @property
    def session_capabilities(self) -> SessionCapabilities:
        return self._can

    def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
        wanted = [info for info in self.sessions if cwd in (None, info.cwd)]
        at = int(cursor or 0)
        return SessionPage(tuple(wanted[at : at + 1]), str(at + 1) if at + 1 < len(wanted) else None)

    def _load(self, session_id: str) -> None:
        if session_id == self.broken:
            raise OSError("gone")
        self.history = f"what was said in {session_id}"


class Simple(SessionSourceBase):
    """Claims nothing."""

    def _load(self, session_id: str) -> None:
        raise AssertionError("nobody may ask for it")


def info(name: str, hours: float | None, cwd: str = "/w", **more: str) -> SessionInfo:
    return SessionInfo(name, "agent", cwd, updated_at=None if hours is None else NOON + timedelta(hours=hours), **more)


def test_the_newest_is_found_by_time_and_not_by_its_place_in_the_list() -> None:
    agent = Agent(info("old", -5), info("undated", None), info("new", 3), info("middle", 0))
    assert [one.session_id for one in every_session(agent)] == ["old", "undated", "new", "middle"]
    assert newest(agent) == info("new", 3)
    assert agent.continue_last() == "new"
    assert (agent.session_id, agent.history) == ("new", "what was said in new")


def test_only_the_sessions_of_the_working_directory_count() -> None:
    agent = Agent(info("here", -5), info("there", 3, cwd="/other"))
    assert agent.continue_last("/w") == "here"
    assert agent.continue_last("/nowhere") is None
    assert agent.session_id == "here"


def test_what_cannot_be_resumed_is_not_the_last_one() -> None:
    assert Agent(info("fine", -5), info("damaged", 3, problem="cut")).continue_last() == "fine"


def test_times_with_and_without_zones_are_compared() -> None:
    naive = SessionInfo("naive", updated_at=datetime(2026, 11, 22, 12, 30))
    eastern = SessionInfo("eastern", updated_at=datetime(2026, 11, 22, 13, tzinfo=timezone(timedelta(hours=1))))
    assert naive.updated_at == NOON + timedelta(minutes=30)
    assert eastern.updated_at == NOON
    assert newest(Agent(eastern, naive)) == naive


def test_a_failed_resume_leaves_the_session_that_is_open() -> None:
    agent = Agent(info("a", 0), info("b", 1), broken="b")
    agent.resume_session("a")
    for attempt in (lambda: agent.resume_session("b"), agent.continue_last):
        with pytest.raises(OSError, match="gone"):
            attempt()
        assert (agent.session_id, agent.history) == ("a", "what was said in a")


def test_without_the_capability_nothing_is_tried() -> None:
    simple = Simple()
    assert isinstance(simple, SessionSource)
    assert simple.session_capabilities == SessionCapabilities(False, False, False, False)
    assert simple.list_sessions() == SessionPage()
    assert list(every_session(simple)) == []
    with pytest.raises(NotImplementedError, match="Simple cannot resume a session"):
        simple.resume_session("a")
    with pytest.raises(NotImplementedError, match="Simple cannot continue the last session"):
        simple.continue_last()
    assert simple.session_id is None


def test_a_list_that_leads_back_to_itself_is_the_sources_fault_and_not_a_hang() -> None:
    class Endless:
        def list_sessions(self, *, cwd: str | None = None, cursor: str | None = None) -> SessionPage:
            return SessionPage((info("a", 0),), {None: "1", "1": "2", "2": "1"}[cursor])

    endless = Endless()
    assert isinstance(endless, SessionLister)
    with pytest.raises(HarnessError, match="Endless: its list of sessions has no end: '1' leads to itself"):
        list(every_session(endless))
