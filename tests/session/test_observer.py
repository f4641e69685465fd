"""What a session tells its observers: once each, in order, on both paths, whatever becomes of the turn."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError, OverloadedError
from turnproof.messages import FunctionCall, Message, TokenUsage, ToolResult
from turnproof.session import Mode, Retry, SessionObserver, Source, Status, TurnResult

from .fakes import PATHS, Naps, Watching, call, open_session, reply, tool

both = pytest.mark.parametrize("path", PATHS)


class Diary(SessionObserver):
    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_status(self, status: Status) -> None:
        self.events.append(status)

    def on_output(self, source: Source, text: str, mode: Mode) -> None:
        self.events.append((source, text, mode))

    def on_turn_began(self, user: Message) -> None:
        self.events.append(("began", user.text))

    def on_turn_ended(self, result: TurnResult | BaseException) -> None:
        self.events.append(("ended", result.outcome if isinstance(result, TurnResult) else type(result).__name__))

    def on_tool_began(self, call: FunctionCall) -> None:
        self.events.append(("tool", call.id))

    def on_tool_ended(self, call: FunctionCall, result: ToolResult) -> None:
        self.events.append(("result", call.id, result.result))

    def on_retry(self, retry: Retry) -> None:
        self.events.append(("retry", retry.attempt, type(retry.error).__name__))

    def on_usage(self, usage: TokenUsage) -> None:
        self.events.append(("usage", usage.total_tokens))

    def on_history(self, messages: Any) -> None:
        self.events.append(("history", [message.role for message in messages]))


@both
def test_a_turn_with_a_retry_and_a_tool_is_told_in_order(path: str) -> None:
    diary = Diary()
    session, _ = open_session(
        path,
        OverloadedError("busy"),
        reply("Let me| see", call()),
        reply("Found"),
        sleep=Naps(),
        tools=[tool()],
        observers=[diary],
    )
    session.send("Hi", on_chunk=lambda _: None, on_usage_update=lambda _: None)
    assert diary.events == [
        "running",
        ("began", "Hi"),
        ("retry", 1, "OverloadedError"),
        "waiting",
        "running",
        ("model", "Let me", "write"),
        ("model", " see", "append"),
        ("usage", 12),
        ("tool", "c1"),
        ("result", "c1", "seen"),
        ("model", "Found", "write"),
        ("usage", 12),
        ("ended", "answer"),
        ("history", ["user", "model", "tool", "model"]),
        "idle",
    ]


@both
def test_an_answer_in_one_piece_is_one_block_with_its_usage(path: str) -> None:
    diary = Diary()
    session, _ = open_session(path, reply("Hello"), observers=[diary])
    session.send("Hi")
    assert diary.events[2:4] == [("model", "Hello", "write"), ("usage", 12)]


@both
def test_a_failed_turn_ends_with_its_error_and_the_history_as_it_was(path: str) -> None:
    diary = Diary()
    session, _ = open_session(path, reply("Hello"), InvalidRequestError("no"), observers=[diary])
    session.send("Hi")
    diary.events.clear()
    with pytest.raises(InvalidRequestError):
        session.send("Again")
    assert diary.events == [
        "running",
        ("began", "Again"),
        ("ended", "InvalidRequestError"),
        ("history", ["user", "model"]),
        "idle",
    ]


@pytest.mark.parametrize("parallel", [True, False], ids=["parallel", "sequential"])
def test_each_tool_that_began_ends_once_also_when_the_turn_is_cancelled(parallel: bool) -> None:
    diary, token = Diary(), CancelToken()

    def cancel(args: dict[str, Any], turn: CancelToken) -> Any:
        token.cancel()
        return "late"

    session, _ = open_session(
        "stateless",
        reply(call(id="a"), call(id="b")),
        tools=[tool(run=cancel)],
        parallel_tools=parallel,
        observers=[diary],
    )
    assert session.send("Hi", cancel_token=token).outcome == "cancelled"
    began = [event[1] for event in diary.events if event[0] == "tool"]
    ended = [entry[1] for entry in diary.events if entry[0] == "result"]
    assert began == ended == ["a", "b"]


@both
def test_changes_between_turns_tell_of_the_history(path: str) -> None:
    histories: list[int] = []
    session, _ = open_session(
        path,
        reply("a"),
        reply("b"),
        observers=[Watching(on_history=lambda messages: histories.append(len(messages)))],
    )
    session.send("one")
    session.send("two")
    session.revert_to_turn(0)
    session.reset(session.history.messages)
    session.clear()
    assert histories == [2, 4, 2, 2, 0]


@both
def test_observers_that_raise_change_nothing(path: str, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("observer")

    names = [name for name in vars(SessionObserver) if name.startswith("on_")]
    diary = Diary()
    session, provider = open_session(
        path,
        OverloadedError("busy"),
        reply(call()),
        reply("Found"),
        sleep=Naps(),
        tools=[tool()],
        observers=[Watching(**dict.fromkeys(names, fail)), diary],
    )
    assert session.send("Hi").text == "Found"
    assert len(provider.requests) == 3
    assert diary.events[-1] == "idle"
    assert "Watching failed as an observer" in caplog.text
