"""Sources of sessions: what is newest, what is listed, and what stays when resuming fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from turnproof.errors import HarnessError, UsageError
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
        expected = [info for info in self.sessions if cwd in (None, info.cwd)]
        at = int(cursor or 0)
        return SessionPage(tuple(expected[at : at + 1]), str(at + 1) if at + 1 < len(expected) else None)

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


# Beginning, forking and deleting

EVERYTHING = SessionCapabilities(can_list=True, can_load=True, can_continue_last=True, can_delete=True, can_fork=True)


class Able(Agent):
    """Forks and deletes too, and fails where it is told to. Notes what it let go of."""

    def __init__(self, *sessions: SessionInfo) -> None:
        super().__init__(*sessions, can=EVERYTHING)
        self.full = False
        self.begin_count = 0

    def _begin(self) -> None:
        self.begin_count += 1
        self.history = ""

    def _fork(self, session_id: str) -> str:
        if self.full:
            raise OSError("disk full")
        return f"{session_id}-copy"

    def _delete(self, session_id: str) -> None:
        if self.full or session_id not in [one.session_id for one in self.sessions]:
            raise OSError("not deleted")
        self.sessions = tuple(one for one in self.sessions if one.session_id != session_id)


def test_a_new_session_has_no_id_until_the_source_tells_one() -> None:
    able = Able(info("a", 0))
    able.resume_session("a")
    able.new_session()
    assert (able.session_id, able.history, able.begin_count) == (None, "", 1)


def test_what_fails_to_begin_anew_stays_where_it_was() -> None:
    class Stuck(Able):
        def _begin(self) -> None:
            raise OSError("it does not end")

    stuck = Stuck(info("a", 0))
    stuck.resume_session("a")
    with pytest.raises(OSError, match="does not end"):
        stuck.new_session()
    assert stuck.session_id == "a"


def test_a_fork_is_the_session_that_is_open_from_then_on() -> None:
    able = Able(info("a", 0))
    able.resume_session("a")
    assert able.fork_session() == "a-copy"
    assert able.session_id == "a-copy"


def test_a_failed_fork_leaves_the_session_that_is_open() -> None:
    able = Able(info("a", 0))
    able.resume_session("a")
    able.full = True
    with pytest.raises(OSError, match="disk full"):
        able.fork_session()
    assert able.session_id == "a"


def test_there_is_nothing_to_fork_before_there_is_a_session() -> None:
    with pytest.raises(UsageError, match="no session yet that could be forked"):
        Able().fork_session()


def test_deleting_the_session_that_is_open_begins_anew_and_deleting_another_does_not() -> None:
    able = Able(info("a", 0), info("b", 1))
    able.resume_session("a")
    able.delete_session("b")
    assert (able.session_id, able.begin_count) == ("a", 0)
    able.delete_session("a")
    assert (able.session_id, able.history, able.begin_count) == (None, "", 1)
    assert able.sessions == ()


def test_a_session_that_could_not_be_deleted_stays_open() -> None:
    able = Able(info("a", 0))
    able.resume_session("a")
    for name, full in (("nobody", False), ("a", True)):
        able.full = full
        with pytest.raises(OSError, match="not deleted"):
            able.delete_session(name)
    assert (able.session_id, able.begin_count) == ("a", 0)


def test_forking_and_deleting_are_not_tried_without_the_capability() -> None:
    agent = Agent(info("a", 0))
    agent.resume_session("a")
    with pytest.raises(NotImplementedError, match="Agent cannot fork a session"):
        agent.fork_session()
    with pytest.raises(NotImplementedError, match="Agent cannot delete a session"):
        agent.delete_session("a")
    assert agent.session_id == "a"


def test_a_source_that_says_it_can_and_does_not_is_told_apart() -> None:
    agent = Agent(info("a", 0), can=EVERYTHING)
    agent.resume_session("a")
    with pytest.raises(NotImplementedError, match="says that it can fork sessions, and does not"):
        agent.fork_session()
    with pytest.raises(NotImplementedError, match="says that it can delete sessions, and does not"):
        agent.delete_session("a")
    assert agent.session_id == "a"
