"""Sessions that outlive the process: listed, resumed, forked, deleted, and damaged."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from turnproof.errors import ResumeError, UsageError
from turnproof.messages import same_history
from turnproof.sessions import every_session
from turnproof_adapters.claude_agent.agent import ClaudeAgent

from ..scripted_server import ScriptedServer, scripted
from .kit import Place, call, conversation, says, sensor


def written(here: Place, text: str, *, at: datetime, cwd: str | None = None, session: str | None = None) -> str:
    """A session of one turn, as the program would have stored it; its id."""
    session = session or str(uuid.uuid4())
    folder = here.home / "projects" / "-somewhere"
    folder.mkdir(parents=True, exist_ok=True)
    question_id, answered = str(uuid.uuid4()), str(uuid.uuid4())
    about = {"sessionId": session, "timestamp": at.isoformat(), "cwd": cwd or str(here.cwd), "isSidechain": False}
    blocks = [{"type": "text", "text": f"Answer to {text}"}]
    answer = {"role": "assistant", "id": f"msg_{session}", "model": "claude-haiku-4-5", "content": blocks}
    lines = [
        {"type": "atis-latch", "atis": "", "sessionId": session},
        {
            "type": "user",
            "uuid": question_id,
            "parentUuid": None,
            "message": {"role": "user", "content": text},
            **about,
        },
        {"type": "assistant", "uuid": answered, "parentUuid": question_id, "message": answer, **about},
        {"type": "last-prompt", "lastPrompt": text, "leafUuid": answered, "sessionId": session},
    ]
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return session


NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def turns(agent: ClaudeAgent) -> list[str]:
    return [message.text for message in agent.history]


def test_a_session_is_resumed_by_another_process_and_its_history_is_the_same(here: Place) -> None:
    with scripted(says("Look:", call(bed="3"), call(bed="4")), says("Both."), says("Two.")) as api:
        first = here.agent(api.url, sensor())
        first.send("1?")
        history = list(first.history)
        first.shutdown()
        second = here.agent(api.url, sensor(), session=first.session_id)
        assert second.session_id == first.session_id
        assert same_history(second.history, history, ids=False)
        second.send("2?")
        before = api.requests[1].json["messages"]
        after = api.requests[2].json["messages"]
    assert [len(message.results) for message in second.history] == [0, 0, 2, 0, 0, 0]
    assert [block["type"] for block in after[1]["content"]] == ["text", "tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in after[2]["content"]] == [
        block["tool_use_id"] for block in before[2]["content"]
    ]
    assert conversation(api.requests[2])[-1] == ("user", "2?")


def test_two_sessions_are_kept_apart(here: Place) -> None:
    with scripted(says("A1."), says("B1."), says("A2.")) as api:
        agent = here.agent(api.url)
        agent.send("a1?")
        first = agent.session_id
        agent.new_session()
        assert (agent.session_id, list(agent.history)) == (None, [])
        agent.send("b1?")
        assert agent.session_id != first
        assert turns(agent) == ["b1?", "B1."]
        agent.resume_session(str(first))
        assert turns(agent) == ["a1?", "A1."]
        agent.send("a2?")
        sent = [conversation(exchange) for exchange in api.requests]
    assert sent == [
        [("user", "a1?")],
        [("user", "b1?")],
        [("user", "a1?"), ("assistant", "A1."), ("user", "a2?")],
    ]


def test_a_fork_goes_on_by_itself_and_is_there_at_once(here: Place) -> None:
    with scripted(says("One."), says("Forked."), says("Two.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        origin = str(agent.session_id)
        fork = agent.fork_session()
        assert fork not in (origin, "")
        assert agent.session_id == fork
        assert {info.session_id for info in agent.list_sessions().sessions} == {origin, fork}
        agent.send("fork?")
        assert turns(agent) == ["1?", "One.", "fork?", "Forked."]
        assert agent.session_id == fork
        agent.resume_session(origin)
        assert turns(agent) == ["1?", "One."]
        agent.send("2?")
    assert [conversation(exchange) for exchange in api.requests[1:]] == [
        [("user", "1?"), ("assistant", "One."), ("user", "fork?")],
        [("user", "1?"), ("assistant", "One."), ("user", "2?")],
    ]


def test_there_is_no_fork_of_no_session(here: Place) -> None:
    with pytest.raises(UsageError, match="no session yet"):
        here.agent().fork_session()


def test_a_session_that_is_deleted_is_gone(here: Place) -> None:
    with scripted(says("One."), says("Two.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        session_id = str(agent.session_id)
        other = written(here, "other", at=NOON)
        agent.delete_session(other)
        assert agent.session_id == session_id
        agent.delete_session(session_id)
        left: tuple[Any, ...] = (agent.session_id, list(agent.history), here.files())
        assert left == (None, [], [])
        for unwilling in (agent.delete_session, agent.resume_session):
            with pytest.raises(ResumeError, match="there is no session"):
                unwilling(session_id)
        agent.send("2?")
        assert conversation(api.requests[-1]) == [("user", "2?")]


@pytest.mark.parametrize("unknown", ["27fb7dd4-3ea1-4503-b946-bd56ea201abc", "nonsense", "", "../../etc/passwd", "*"])
def test_a_session_that_is_not_there_cannot_be_resumed_and_changes_nothing(here: Place, unknown: str) -> None:
    with scripted(says("One."), says("Two.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        session = agent.session_id
        with pytest.raises(ResumeError, match="list_sessions") as raised:
            agent.resume_session(unknown)
        assert raised.value.session_id == unknown
        assert agent.session_id == session
        assert turns(agent) == ["1?", "One."]
        assert agent.send("2?").text == "Two."


def test_a_session_that_vanishes_is_an_error_once_and_then_a_new_one_is_begun(here: Place) -> None:
    with scripted(says("One.")) as api:
        agent = here.agent(api.url, session=written(here, "old", at=NOON))
        assert turns(agent) == ["old", "Answer to old"]
        here.files()[0].unlink()
        with pytest.raises(ResumeError, match="No conversation found"):
            agent.send("1?")
        assert (agent.session_id, list(agent.history)) == (None, [])
        agent.send("1?")
        assert conversation(api.requests[-1]) == [("user", "1?")]


def test_a_session_of_another_folder_is_resumed_here(here: Place, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with scripted(says("One."), says("Two.")) as api:
        first = here.agent(api.url, cwd=elsewhere)
        first.send("1?")
        first.shutdown()
        second = here.agent(api.url)
        second.resume_session(str(first.session_id))
        second.send("2?")
        assert conversation(api.requests[-1]) == [("user", "1?"), ("assistant", "One."), ("user", "2?")]
        assert second.session_id == first.session_id
    assert [info.cwd for info in second.list_sessions().sessions] == [str(elsewhere)]


# -- lists ------------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_newest_first_by_what_was_said_last(here: Place) -> None:
    old = written(here, "old  one\n with two lines", at=NOON)
    new = written(here, "x" * 200, at=NOON + timedelta(hours=1))
    other = written(here, "elsewhere", at=NOON + timedelta(minutes=1), cwd="/somewhere/else")
    agent = here.agent()
    listed = agent.list_sessions().sessions
    assert [info.session_id for info in listed] == [new, other, old]
    assert [info.updated_at for info in listed] == [NOON + timedelta(hours=1), NOON + timedelta(minutes=1), NOON]
    assert listed[2].title == "old one with two lines"
    assert len(str(listed[0].title)) == 80
    assert {info.provider for info in listed} == {"claude_agent"}
    assert {info.problem for info in listed} == {None}
    assert [info.session_id for info in agent.list_sessions(cwd=str(here.cwd)).sessions] == [new, old]
    assert [info.session_id for info in agent.list_sessions(cwd="/somewhere/else").sessions] == [other]


def test_a_list_comes_in_pages_and_holds_every_session_once(here: Place) -> None:
    # Most share a time: a page may end among equals.
    ids = [written(here, f"{n}", at=NOON + timedelta(hours=n // 20)) for n in range(60)]
    agent = here.agent()
    pages = [agent.list_sessions()]
    while pages[-1].next_cursor is not None:
        pages.append(agent.list_sessions(cursor=pages[-1].next_cursor))
    assert [len(page.sessions) for page in pages] == [25, 25, 10]
    assert sorted(info.session_id for info in every_session(agent)) == sorted(ids)


def test_a_cursor_of_no_page_is_refused(here: Place) -> None:
    with pytest.raises(UsageError, match="next_cursor"):
        here.agent().list_sessions(cursor="7")


def test_without_sessions_the_list_is_empty(here: Place) -> None:
    agent = here.agent()
    assert agent.list_sessions().sessions == ()
    assert agent.continue_last() is None


# -- opening ----------------------------------------------------------------------------------------------------------


def test_the_last_session_is_that_of_the_folder_by_time(here: Place) -> None:
    written(here, "old", at=NOON)
    last = written(here, "new", at=NOON + timedelta(hours=1))
    written(here, "elsewhere", at=NOON + timedelta(hours=2), cwd="/somewhere/else")
    agent = here.agent(continue_last=True)
    assert agent.session_id == last
    assert turns(agent) == ["new", "Answer to new"]
    agent.new_session()
    assert agent.continue_last(str(here.cwd)) == last


def test_opening_falls_back_and_never_fails_for_a_session(here: Place) -> None:
    last = written(here, "kept", at=NOON)
    damaged = written(here, "damaged", at=NOON + timedelta(hours=1))
    next(path for path in here.files() if path.stem == damaged).write_bytes(b"garbage\n\xff\xfe")
    assert here.agent(session=damaged, continue_last=True).session_id == last
    assert here.agent(session="nonsense", continue_last=True).session_id == last
    assert here.agent(session=last, continue_last=False).session_id == last
    for fallback in (here.agent(session=damaged), here.agent(session="nonsense"), here.agent()):
        assert (fallback.session_id, list(fallback.history)) == (None, [])


def test_opening_with_no_session_that_works_begins_one(here: Place) -> None:
    with scripted(says("One.")) as api:
        agent = here.agent(api.url, session="nonsense", continue_last=True)
        agent.send("1?")
        assert conversation(api.requests[0]) == [("user", "1?")]
    assert agent.session_id not in (None, "nonsense")


# -- damage -----------------------------------------------------------------------------------------------------------


def two_turn_session(here: Place, api: ScriptedServer) -> tuple[ClaudeAgent, Path]:
    """A session of two turns, and its file."""
    agent = here.agent(api.url)
    agent.send("1?")
    agent.send("2?")
    agent.shutdown()
    return agent, here.files()[0]


def test_lines_that_cannot_be_read_are_passed_over(here: Place) -> None:
    with scripted(says("One."), says("Two."), says("Three.")) as api:
        first, path = two_turn_session(here, api)
        with path.open("ab") as file:
            file.write(b'garbage\n\xff\xfe\n{"type": "user", "uuid": 7}\n{"type": "user", "uuid": "half')
        agent = here.agent(api.url, session=first.session_id)
        assert turns(agent) == ["1?", "One.", "2?", "Two."]
        with path.open("ab") as file:
            file.write(b"\n")
        agent.send("3?")
        sent = [text for _, text in conversation(api.requests[-1])]
    assert sent == ["1?", "One.", "2?", "Two.", "3?"]


def test_a_file_that_was_cut_in_half_is_gone_on_with_where_it_ends(here: Place) -> None:
    with scripted(says("One."), says("Two."), says("Three.")) as api:
        first, path = two_turn_session(here, api)
        data = path.read_bytes()
        second = data.index(b'"2?"', data.index(b'"One."'))
        path.write_bytes(data[:second])
        agent = here.agent(api.url, session=first.session_id)
        assert turns(agent) == ["1?", "One."]
        agent.send("3?")
        sent = [text for _, text in conversation(api.requests[-1])]
    assert sent == ["1?", "One.", "3?"]
    agent.resume_session(str(agent.session_id))
    assert turns(agent) == ["1?", "One.", "3?", "Three."]


@pytest.mark.parametrize(
    "data", [b"", b"garbage\n\xff\xfe\n", b'{"type": "mode"}\n'], ids=["empty", "garbage", "notes"]
)
def test_a_file_without_a_message_is_a_problem_in_the_list_and_an_error_to_resume(here: Place, data: bytes) -> None:
    session = written(here, "old", at=NOON)
    here.files()[0].write_bytes(data)
    agent = here.agent()
    (info,) = agent.list_sessions().sessions
    assert "holds no message" in str(info.problem)
    with pytest.raises(ResumeError, match="delete_session"):
        agent.resume_session(session)
    assert agent.continue_last() is None
    agent.delete_session(session)
    assert here.files() == []


def test_what_is_no_session_is_not_listed(here: Place) -> None:
    written(here, "old", at=NOON)
    folder = here.files()[0].parent
    (folder / "notes.jsonl").write_text("{}")
    (folder / f"{uuid.uuid4()}.jsonl").mkdir()
    listed = here.agent().list_sessions().sessions
    assert [info.title for info in listed] == ["old", None]
    assert "cannot be read" in str(listed[1].problem)


def test_a_session_of_many_lines_is_read(here: Place) -> None:
    session = written(here, "old", at=NOON)
    note = json.dumps({"type": "queue-operation", "sessionId": session}) + "\n"
    with here.files()[0].open("a") as file:
        file.writelines([note] * 200_000)
    agent = here.agent(session=session)
    assert [(message.role, message.text) for message in agent.history] == [
        ("user", "old"),
        ("model", "Answer to old"),
    ]
