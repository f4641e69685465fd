"""The ledger: one row for each answer, whatever became of its turn."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest

from turnproof.errors import InvalidRequestError, OverloadedError
from turnproof.messages import FinishReason, Message, ProviderResponse, TokenUsage
from turnproof.session import LedgerRow, TokenLedger
from turnproof.session.ledger import summed

from .fakes import PATHS, Play, call, open_session, reply, tool

both = pytest.mark.parametrize("path", PATHS)

CACHED = TokenUsage(100, 20, 120, cache_read_tokens=60, cache_creation_tokens=30, thinking_tokens=5)


def answered(usage: TokenUsage, model: str | None = None) -> ProviderResponse:
    return ProviderResponse(reply("Hi").parts, usage, FinishReason.STOP, model=model)


@both
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "streamed"])
def test_each_answer_of_each_turn_has_a_row(path: str, streamed: bool) -> None:
    ledger = TokenLedger()
    steps = OverloadedError("busy"), reply(call(), prompt=10, output=1), reply("So", prompt=12, output=2), reply("Yes")
    session, _ = open_session(path, *steps, tools=[tool()], observers=[ledger])
    callbacks: dict[str, Any] = (
        {"on_chunk": lambda piece: None, "on_usage_update": lambda usage: None} if streamed else {}
    )
    session.send("Hi", **callbacks)
    session.send("And?", **callbacks)
    assert ledger.rows == (
        LedgerRow("main", 0, 0, TokenUsage(10, 1, 11), FinishReason.TOOL_USE),
        LedgerRow("main", 0, 1, TokenUsage(12, 2, 14), FinishReason.STOP),
        LedgerRow("main", 1, 0, TokenUsage(10, 2, 12), FinishReason.STOP),
    )
    assert ledger.of_turn(0) == TokenUsage(22, 3, 25)
    assert ledger.of_turn(1) == TokenUsage(10, 2, 12)
    assert ledger.total == TokenUsage(32, 5, 37)


@both
def test_cache_figures_are_kept_and_summed(path: str) -> None:
    ledger = TokenLedger()
    session, provider = open_session(path, observers=[ledger])
    provider.script.play = lambda kwargs: answered(CACHED, "fake-1-20261120")
    session.send("Hi")
    session.send("And?")
    assert [row.usage for row in ledger.rows] == [CACHED, CACHED]
    assert {row.model for row in ledger.rows} == {"fake-1-20261120"}
    assert ledger.total == TokenUsage(200, 40, 240, 120, 60, 10)


@both
def test_what_was_answered_counts_even_if_the_turn_failed_later(path: str) -> None:
    ledger = TokenLedger()
    session, _ = open_session(
        path, reply(call()), InvalidRequestError("no"), reply("Yes"), tools=[tool()], observers=[ledger]
    )
    with pytest.raises(InvalidRequestError):
        session.send("Hi")
    session.send("Again")
    assert [(row.turn, row.call, row.finish) for row in ledger.rows] == [
        (0, 0, FinishReason.TOOL_USE),
        (1, 0, FinishReason.STOP),
    ]


@both
def test_a_cancelled_answer_counts_with_the_figures_it_had(path: str) -> None:
    def cut(play: Play) -> ProviderResponse:
        play.stream("Let")
        play.token.cancel()
        return reply("Let", finish="cancelled", prompt=10, output=1)

    ledger = TokenLedger()
    session, _ = open_session(path, cut, observers=[ledger])
    session.send("Hi", on_chunk=lambda piece: None)
    assert ledger.rows == (LedgerRow("main", 0, 0, TokenUsage(10, 1, 11), FinishReason.CANCELLED),)


def test_attempts_that_failed_are_not_in_it() -> None:
    ledger = TokenLedger()
    session, _ = open_session("stateless", InvalidRequestError("no"), observers=[ledger])
    with pytest.raises(InvalidRequestError):
        session.send("Hi")
    assert ledger.rows == ()
    assert ledger.total == TokenUsage()


def test_a_subagent_writes_into_the_same_rows_under_its_own_name() -> None:
    ledger = TokenLedger()
    child, _ = open_session("stateless", reply("Dry"), observers=[ledger.child("scout")])
    asking = tool("ask", lambda args, token: child.send("How is bed 3?").text)
    session, _ = open_session("legacy", reply(call("ask")), reply("It is dry"), tools=[asking], observers=[ledger])
    session.send("Hi")
    assert [(row.session, row.turn, row.call) for row in ledger.rows] == [
        ("main", 0, 0),
        ("scout", 0, 0),
        ("main", 0, 1),
    ]
    assert ledger.of_turn(0) == TokenUsage(20, 4, 24)
    assert ledger.total == TokenUsage(30, 6, 36)


def test_sessions_may_write_at_once() -> None:
    ledger = TokenLedger()
    children = [ledger.child(f"scout-{n}") for n in range(4)]

    def turns(child: TokenLedger) -> None:
        for _ in range(50):
            child.on_turn_began(Message.user("Hi"))
            child.on_response(answered(TokenUsage(1, 1, 2)))

    threads = [threading.Thread(target=turns, args=(child,)) for child in children]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.total == TokenUsage(200, 200, 400)
    for child in children:
        assert child.of_turn(49) == TokenUsage(1, 1, 2)


def test_rows_are_data() -> None:
    ledger = TokenLedger()
    ledger.on_turn_began(Message.user("Hi"))
    ledger.on_response(answered(CACHED))
    text = msgspec.json.encode(ledger.rows)
    assert tuple(msgspec.json.decode(text, type=list[LedgerRow])) == ledger.rows


def test_the_sum_of_nothing_is_nothing() -> None:
    assert summed([]) == TokenUsage()
