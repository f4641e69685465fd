"""Sessions over the protocol: they outlive the program, are found by time and folder, and no failure loses one."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from turnproof.errors import ResumeError
from turnproof.messages import same_history
from turnproof.sessions import SessionCapabilities, every_session
from turnproof_adapters.acp import program_run
from turnproof_adapters.acp.agent import AcpAgent
from turnproof_adapters.acp.claude import CLAUDE

from ..emulated_conversation import QUESTIONS, SYSTEM
from .kit import AGENT, WHICH, Bench, roles_and_texts, standin_only

lists = pytest.mark.skipif(not AGENT.sessions.can_list, reason="the program lists no sessions")
again = pytest.mark.skipif(WHICH == "gemini", reason="Gemini CLI sends the results of a loaded session twice")
forks = pytest.mark.skipif(not AGENT.sessions.can_fork, reason="the program forks no session")
deletes = pytest.mark.skipif(not AGENT.sessions.can_delete, reason="the program deletes no session")

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a program tells of a session later than this is taken for news."""
    monkeypatch.setattr(program_run, "GRACE", 60.0)


def test_what_is_claimed_is_what_the_program_says(at: Bench) -> None:
    assert at.open().session_capabilities == AGENT.sessions


def test_opening_starts_nothing(at: Bench) -> None:
    agent = at.open()
    assert agent.session_id is None
    assert list(agent.history) == []
    assert not at.home.exists()


@again
def test_a_session_is_gone_on_with_in_a_new_process(at: Bench) -> None:
    first = at.open()
    at.say(first, 0)
    session, history = first.session_id, first.history
    first.shutdown()
    second = at.open(session=session)
    assert second.session_id == session
    if WHICH == "claude":
        assert same_history(second.history, history, ids=False)
    at.say(second, 1)
    assert second.session_id == session
    assert roles_and_texts(second.history)[-2:] == [("user", QUESTIONS[1]), ("model", "I cannot say.")]
    texts = [message.text for message in at.api.calls[-1].messages]
    assert sum(QUESTIONS[0] in text for text in texts) == 1
    assert any(SYSTEM in getattr(part, "text", "") for part in at.api.calls[-1].system)


def test_tools_are_there_in_a_session_that_was_resumed(at: Bench) -> None:
    first = at.open()
    at.say(first, 1)
    session = first.session_id
    first.shutdown()
    second = at.open(session=session)
    assert at.say(second, 0).text.endswith("Both are at 41 %.")
    assert len(at.tool_arguments) == 2


def test_a_failed_resume_leaves_session_and_history_as_they_were(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    session, history = agent.session_id, agent.history
    with pytest.raises(ResumeError, match="cannot resume session") as failure:
        agent.resume_session(NOBODY)
    assert failure.value.session_id == NOBODY
    assert "list_sessions" in str(failure.value)
    assert agent.session_id == session
    assert same_history(agent.history, history)
    assert at.say(agent, 2).text == "Good night."
    texts = [message.text for message in at.api.calls[-1].messages]
    assert sum(QUESTIONS[1] in text for text in texts) == 1


def test_an_unknown_session_in_the_setup_is_no_failure(at: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "turnproof_adapters.acp"):
        agent = at.open(session=NOBODY)
        assert agent.session_id is None
    assert at.say(agent, 1).text == "I cannot say."
    assert agent.session_id not in (None, NOBODY)
    assert any(NOBODY in record.getMessage() for record in caplog.records)


def test_switching_between_sessions_keeps_their_histories_apart(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    first = agent.session_id
    agent.new_session()
    assert agent.session_id is None
    assert list(agent.history) == []
    at.say(agent, 2)
    assert agent.session_id != first
    assert roles_and_texts(agent.history) == [("user", QUESTIONS[2]), ("model", "Good night.")]
    assert not any(QUESTIONS[1] in message.text for message in at.api.calls[-1].messages)
    assert first is not None
    agent.resume_session(first)
    assert agent.session_id == first
    assert roles_and_texts(agent.history)[-1] == ("model", "I cannot say.")
    assert not any(QUESTIONS[2] in text for _, text in roles_and_texts(agent.history))


def test_a_session_can_be_loaded_again_and_again(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    session = agent.session_id
    for count in (1, 2):
        agent.shutdown()
        agent = at.open(session=session)
        assert agent.session_id == session
        assert len(agent.history) == 2 * count
        assert roles_and_texts(agent.history)[:2] == [("user", QUESTIONS[1]), ("model", "I cannot say.")]
        at.say(agent, 2)
        texts = [message.text for message in at.api.calls[-1].messages]
        assert sum(QUESTIONS[1] in text for text in texts) == 1


@lists
def test_sessions_are_listed_by_their_folder_and_with_a_time_in_utc(at: Bench, tmp_path: Path) -> None:
    agent = at.open()
    at.say(agent, 1)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = at.open(cwd=str(elsewhere))
    at.say(other, 2)
    (info,) = every_session(agent, str(at.cwd))
    assert info.session_id == agent.session_id
    assert info.cwd == str(at.cwd)
    assert info.provider == AGENT.name
    assert info.updated_at is not None
    assert info.updated_at.utcoffset() == timedelta(0)
    (info,) = every_session(agent, str(elsewhere))
    assert info.session_id == other.session_id
    assert {info.session_id for info in every_session(agent)} >= {agent.session_id, other.session_id}


@lists
def test_going_on_with_the_last_is_by_time(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    first = agent.session_id
    agent.new_session()
    at.say(agent, 2)
    assert first is not None
    agent.resume_session(first)
    at.say(agent, 2)
    agent.shutdown()
    again = at.open(continue_last=True)
    assert again.session_id == first
    assert roles_and_texts(again.history)[-1] == ("model", "Good night.")
    other = at.open()
    assert other.continue_last(str(at.cwd)) == first


@lists
def test_with_no_session_to_go_on_with_a_new_one_is_begun(at: Bench) -> None:
    agent = at.open(continue_last=True)
    assert agent.continue_last(str(at.cwd)) is None
    assert at.say(agent, 1).text == "I cannot say."


@forks
def test_a_fork_goes_its_own_way_and_the_session_stays_as_it_was(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    session = agent.session_id
    assert session is not None
    copy = agent.fork_session()
    assert copy != session
    assert agent.session_id == copy
    assert roles_and_texts(agent.history) == [("user", QUESTIONS[1]), ("model", "I cannot say.")]
    at.say(agent, 2)
    texts = [message.text for message in at.api.calls[-1].messages]
    assert sum(QUESTIONS[1] in text for text in texts) == 1
    agent.resume_session(session)
    assert not any(QUESTIONS[2] in text for _, text in roles_and_texts(agent.history))


@deletes
def test_a_session_that_is_deleted_is_gone_and_the_next_message_begins_another(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    session = agent.session_id
    assert session is not None
    agent.delete_session(session)
    assert agent.session_id is None
    assert list(agent.history) == []
    assert session not in {info.session_id for info in every_session(agent)}
    with pytest.raises(ResumeError):
        agent.resume_session(session)
    with pytest.raises(ResumeError):
        agent.delete_session(session)
    assert at.say(agent, 2).text == "Good night."
    assert agent.session_id != session


# -- with the stand-in alone ------------------------------------------------------------------------------------------


@standin_only
@pytest.mark.parametrize("flags", [("--late",), ("--resume-only",)], ids=" ".join)
def test_what_is_told_again_of_a_session_is_never_an_answer(at: Bench, flags: tuple[str, ...]) -> None:
    first = at.open()
    at.say(first, 0)
    session = first.session_id
    chunks: list[str] = []
    agent = at.open(*flags, session=session)
    assert at.say(agent, 1, on_chunk=chunks.append).text == "I cannot say."
    assert "".join(chunks) == "I cannot say."
    before = [] if flags == ("--resume-only",) else roles_and_texts(first.history)
    assert roles_and_texts(agent.history) == [*before, ("user", QUESTIONS[1]), ("model", "I cannot say.")]


@standin_only
def test_a_late_replay_is_the_history(at: Bench) -> None:
    first = at.open()
    at.say(first, 0)
    agent = at.open("--late", session=first.session_id)
    assert same_history(agent.history, first.history, ids=False)


@standin_only
def test_what_a_program_does_not_offer_is_not_asked_for(at: Bench) -> None:
    agent = at.open("--bare", session=NOBODY, continue_last=True)
    assert agent.session_capabilities == SessionCapabilities()
    assert at.say(agent, 1).text == "I cannot say."
    assert list(every_session(agent, str(at.cwd))) == []
    session = agent.session_id
    with pytest.raises(NotImplementedError):
        agent.resume_session(NOBODY)
    with pytest.raises(NotImplementedError):
        agent.continue_last(str(at.cwd))
    with pytest.raises(NotImplementedError):
        agent.fork_session()
    with pytest.raises(NotImplementedError):
        agent.delete_session(NOBODY)
    assert agent.session_id == session
    assert at.say(agent, 2).text == "Good night."


@standin_only
def test_pages_are_passed_on_and_the_folder_is_looked_at_here_too(at: Bench, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = at.open(cwd=str(tmp_path / "elsewhere"))
    at.say(other, 2)
    agent = at.open("--page", "2", "--every-folder")
    session_ids = set()
    for _ in range(4):
        agent.new_session()
        at.say(agent, 1)
        session_ids.add(agent.session_id)
    page = agent.list_sessions(cwd=str(at.cwd))
    assert page.next_cursor is not None
    assert len(page.sessions) <= 2
    assert {info.session_id for info in every_session(agent, str(at.cwd))} == session_ids


@standin_only
def test_a_session_of_another_folder_cannot_be_resumed_here(at: Bench, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    other = at.open(cwd=str(tmp_path / "elsewhere"))
    at.say(other, 1)
    agent = at.open()
    assert other.session_id is not None
    with pytest.raises(ResumeError, match="belongs to the folder"):
        agent.resume_session(other.session_id)


@standin_only
def test_an_id_that_is_a_path_finds_no_session(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    with pytest.raises(ResumeError):
        agent.resume_session("../prompts")


@standin_only
def test_tools_go_with_every_way_of_opening(at: Bench) -> None:
    agent = at.open("--resume-only")
    at.say(agent, 1)
    session = agent.session_id
    assert session is not None
    agent.fork_session()
    assert at.say(agent, 0).text.endswith("41 %.")
    agent.resume_session(session)
    assert at.say(agent, 0).text.endswith("41 %.")
    assert len(at.tool_arguments) == 4


@standin_only
def test_a_time_that_is_a_number_or_lacks_a_zone_is_read(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 1)
    (file,) = (at.home / ".standin" / "sessions").glob("*.json")
    for told_as, year in (("2031-05-06T07:08:09", 2031), (1_900_000_000_000, 2030), ("soon", None)):
        file.write_text(json.dumps({**json.loads(file.read_text()), "updatedAt": told_as}))
        (info,) = agent.list_sessions(cwd=str(at.cwd)).sessions
        assert (None if info.updated_at is None else info.updated_at.year) == year


@standin_only
def test_the_programs_own_ways_are_data(at: Bench) -> None:
    agent = AcpAgent(replace(CLAUDE, name="another"), at.setup())
    at.agents.append(agent)
    at.say(agent, 1)
    (info,) = agent.list_sessions(cwd=str(at.cwd)).sessions
    assert info.provider == "another"
