"""Going back to a turn: where turns begin, what is kept, and what is refused."""

from __future__ import annotations

import pytest

from turnproof.errors import UsageError
from turnproof.messages import InlineData, Message
from turnproof.session import Session

from .fakes import PATHS, call, open_session, reply, tool

both = pytest.mark.parametrize("path", PATHS)


def three_turns(path: str) -> Session:
    session, _ = open_session(
        path, reply(call("one")), reply("A"), reply("B"), reply("C"), reply("D"), tools=[tool("one")]
    )
    for text in ("a", "b", "c"):
        session.send(text)
    return session


@both
def test_turns_begin_where_the_user_says_something(path: str) -> None:
    assert three_turns(path).turn_boundaries == [0, 4, 6]


def test_results_and_files_alone_begin_no_turn() -> None:
    session, _ = open_session("stateless")
    picture = InlineData(mime_type="image/png", data=b"png")
    session.reset([Message.model("Hi"), Message.user(picture), Message.user("a"), Message.system("Be brief.")])
    assert session.turn_boundaries == [2]


@both
@pytest.mark.parametrize(("turn", "count"), [(0, 4), (1, 6), (2, 8)])
def test_the_turns_up_to_the_named_one_are_kept_whole(path: str, turn: int, count: int) -> None:
    session = three_turns(path)
    before = session.history.messages
    session.revert_to_turn(turn)
    assert session.history.messages == before[:count]


@both
@pytest.mark.parametrize("turn", [3, 99, -1])
def test_a_turn_that_is_not_there_is_refused_and_nothing_changes(path: str, turn: int) -> None:
    session = three_turns(path)
    before = session.history.messages
    with pytest.raises(UsageError, match=f"there is no turn {turn}: this history has turns 0 to 2"):
        session.revert_to_turn(turn)
    assert session.history.messages == before


def test_an_empty_history_has_no_turn_to_go_back_to() -> None:
    session, _ = open_session("stateless")
    with pytest.raises(UsageError, match="this history has no turn yet"):
        session.revert_to_turn(0)


@both
def test_the_next_turn_goes_on_from_there_on_both_sides(path: str) -> None:
    session, provider = open_session(path, reply("A"), reply("B"), reply("C"))
    session.send("a")
    session.send("b")
    session.revert_to_turn(0)
    session.send("c")
    assert [message.text for message in provider.requests[-1].messages] == ["a", "A", "c"]


def test_going_back_asks_no_stateless_provider() -> None:
    session, provider = open_session("stateless", reply("A"), reply("B"))
    session.send("a")
    session.send("b")
    session.revert_to_turn(0)
    assert len(provider.requests) == 2


def test_going_back_within_a_turn_is_refused() -> None:
    refused: list[str] = []

    def back(args: object, token: object) -> str:
        try:
            session.revert_to_turn(0)
        except UsageError as error:
            refused.append(str(error))
        return "fine"

    session, _ = open_session("stateless", reply(call("one")), reply("A"), tools=[tool("one", back)])
    session.send("a")
    assert len(refused) == 1
    assert "a turn of this session is running" in refused[0]
