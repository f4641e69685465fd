"""A user's own command in the history: a message of the user, wherever it stands."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import PayloadError, UsageError
from turnproof.messages import InlineData, Message, Text, same_history
from turnproof.session import Session, ToolOutput, is_paired

from .fakes import PATHS, Watching, call, open_session, reply, shape, tool

both = pytest.mark.parametrize("path", PATHS)

PICTURE = InlineData("image/png", b"\x89PNG")


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


@dataclass(frozen=True)
class Case:
    id: str
    returned: Any
    text: str
    attachments: tuple[Any, ...] = ()


CASES = [
    Case("text", "1. write tests", "plan\n1. write tests"),
    Case("nothing", None, "plan"),
    Case("blank", " \n", "plan"),
    Case("json", {"steps": [1, None, "é"]}, 'plan\n{"steps":[1,null,"é"]}'),
    Case("private-keys", {"a": 1, "_trace": "x"}, 'plan\n{"a":1}'),
    Case("ok-tuple", (True, "fine"), "plan\nfine"),
    Case("failed-tuple", (False, {"error": "no plan"}), "plan\nerror: no plan"),
    Case("output", ToolOutput("see", attachments=(PICTURE,)), "plan\nsee", (PICTURE,)),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_the_model_reads_the_command_and_its_outcome(case: Case) -> None:
    session, _ = open_session("stateless")
    message = session.inject("plan", case.returned)
    assert message.role == "user"
    assert message.parts == (Text(case.text), *case.attachments)
    assert session.history.last is message


@both
def test_it_goes_out_with_the_next_turn_and_not_before(path: str) -> None:
    session, provider = open_session(path, reply("a"), reply("b"))
    session.send("one")
    session.inject("ls", "a.py")
    assert len(provider.requests) == 1
    assert in_step(session, provider)
    session.send("two")
    assert [(m.role, m.text) for m in provider.requests[1].messages] == [
        ("user", "one"),
        ("model", "a"),
        ("user", "ls\na.py"),
        ("user", "two"),
    ]
    assert in_step(session, provider)


@both
def test_it_may_be_the_first_message_and_there_may_be_several(path: str) -> None:
    session, provider = open_session(path, reply("ok"))
    session.inject("pwd", "/work")
    session.inject("ls", "a.py")
    session.send("Hi")
    assert [message.role for message in session.history.messages] == ["user", "user", "user", "model"]
    assert session.turn_boundaries == [0, 1, 2]
    assert in_step(session, provider)


@both
def test_it_does_not_come_between_a_call_and_its_result(path: str) -> None:
    session, provider = open_session(path, reply("ok"))
    session.reset([Message.user("look"), Message.model(call())])
    session.inject("ls", "a.py")
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "user"]
    session.send("Hi")
    assert is_paired(provider.requests[0].messages)
    assert in_step(session, provider)


@both
def test_a_revert_takes_it_back_like_a_turn(path: str) -> None:
    session, _ = open_session(path, reply("a"))
    session.send("one")
    session.inject("ls", "a.py")
    session.revert_to_turn(0)
    assert [message.text for message in session.history.messages] == ["one", "a"]


@both
def test_a_running_turn_refuses_it(path: str) -> None:
    def run(args: dict[str, Any], token: CancelToken) -> str:
        with pytest.raises(UsageError, match="is running"):
            session.inject("ls", "a.py")
        return "seen"

    session, _ = open_session(path, reply(call()), reply("ok"), tools=[tool(run=run)])
    assert session.send("Hi").text == "ok"
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "model"]


@pytest.mark.parametrize(
    ("command", "returned", "error"),
    [("", "x", UsageError), (" ", "x", UsageError), ("plan", {"at": object()}, PayloadError)],
    ids=["empty", "blank", "not-json"],
)
def test_what_cannot_be_told_is_refused_and_changes_nothing(command: str, returned: Any, error: type) -> None:
    session, _ = open_session("stateless")
    with pytest.raises(error):
        session.inject(command, returned)
    assert shape(session) == []


def test_observers_are_told_of_the_new_history() -> None:
    lengths: list[int] = []
    session, _ = open_session(
        "stateless", observers=[Watching(on_history=lambda messages: lengths.append(len(messages)))]
    )
    session.inject("ls", "a.py")
    assert lengths == [1]


def test_a_note_about_a_cancelled_turn_stays_due_over_it() -> None:
    def cancelled(play: Any) -> Any:
        play.token.cancel()
        return reply("Hel", finish="cancelled")

    session, _ = open_session("stateless", cancelled, reply("ok"), cancel_note="stopped")
    session.send("Hi")
    session.inject("ls", "a.py")
    session.send("Go on")
    assert shape(session)[-2] == ("user", (Text("stopped"), Text("Go on")))
