"""A response that ends as if it called a tool and calls none: the model is told so three times, and then no more."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, TurnproofError
from turnproof.messages import Text, same_history
from turnproof.session import CallMissing, Session, is_paired
from turnproof.session.missing_call import NUDGE

from .fakes import PATHS, call, open_session, reply, shape, tool

both = pytest.mark.parametrize("path", PATHS)

NUDGE_MESSAGE = ("user", (Text(NUDGE),))
EMPTY, HALF = reply(finish="tool_use"), reply("Let me look", finish="tool_use")


def in_step(session: Session, provider: Any) -> bool:
    return session.path == "stateless" or same_history(provider.get_history(), session.history.messages, ids=False)


@both
def test_the_model_is_told_and_its_call_is_then_run(path: str) -> None:
    session, provider = open_session(path, HALF, reply(call()), reply("Found"), tools=[tool()])
    result = session.send("Hi")
    assert (result.text, result.rounds) == ("Let me lookFound", 3)
    assert shape(session)[1:4] == [("model", (Text("Let me look"),)), NUDGE_MESSAGE, ("model", (call(),))]
    assert [message.role for message in provider.requests[1].messages] == ["user", "model", "user"]
    assert in_step(session, provider)


@both
def test_what_is_sent_is_what_is_held_also_where_nothing_came(path: str) -> None:
    session, provider = open_session(path, EMPTY, EMPTY, EMPTY, reply("Sorry"))
    assert session.send("Hi").text == "Sorry"
    assert shape(session) == [
        ("user", (Text("Hi"),)),
        NUDGE_MESSAGE,
        NUDGE_MESSAGE,
        NUDGE_MESSAGE,
        ("model", (Text("Sorry"),)),
    ]
    assert same_history(provider.requests[-1].messages, session.history.messages[:-1], ids=False)
    assert is_paired(session.history.messages)
    assert in_step(session, provider)


@both
def test_after_three_times_the_turn_fails_and_is_taken_back(path: str) -> None:
    session, provider = open_session(path, reply("a"), EMPTY, HALF, EMPTY, HALF, reply("b"))
    session.send("first")
    before = session.history.messages
    with pytest.raises(CallMissing, match="3 times") as failure:
        session.send("second")
    assert isinstance(failure.value, TurnproofError)
    assert failure.value.nudges == 3
    assert session.history.messages == before
    assert session.send("third").text == "b"
    assert in_step(session, provider)


@both
def test_it_is_counted_anew_in_each_turn(path: str) -> None:
    steps = [*[EMPTY] * 3, reply("a"), *[EMPTY] * 3, reply("b")]
    session, _ = open_session(path, *steps)
    assert (session.send("one").text, session.send("two").text) == ("a", "b")


@both
def test_a_cancel_before_the_model_is_told_leaves_nothing_of_it(path: str) -> None:
    session, provider = open_session(path, HALF, Cancelled("in time"))
    assert session.send("Hi", cancel_token=CancelToken()).outcome == "cancelled"
    assert shape(session) == [("user", (Text("Hi"),)), ("model", (Text("Let me look"),))]
    provider.script.steps = [reply("ok")]
    session.send("on")
    assert in_step(session, provider)


@pytest.mark.parametrize("finish", ["stop", "max_tokens", "refusal", "unknown", "error"])
def test_other_responses_without_a_call_are_answers(finish: str) -> None:
    session, provider = open_session("stateless", reply("hm", finish=finish))
    assert session.send("Hi").text == "hm"
    assert len(provider.requests) == 1
