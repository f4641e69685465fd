"""What recorded traffic says of every dialect alike: decided as the service did, and read without losing a byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from turnproof.dialects.base import Call, WireAnswer, World
from turnproof.dialects.contract import Dialect
from turnproof.messages import FunctionCall, Opaque, Part, thaw

from .judge import Judged, table
from .material import Exchange

Json = dict[str, Any]
C = TypeVar("C", bound=Call)


def assert_judged_as_the_service_did(judged: Sequence[Judged]) -> None:
    """No request is refused that was accepted, or the other way round, and refusals have the service's words."""
    print("\n" + table(judged))
    assert [f"{each.where}: {each.wrong}" for each in judged if each.wrong] == []
    assert all(each.reason for each in judged if each.kind == "not honoured")


def assert_counts(judged: Sequence[Judged], *, accepted: int, refused: int, environmental: int, unheard: int) -> None:
    """There are at least so many of each class, and at most so many that are not honoured."""
    derivable = [each.accepted for each in judged if each.kind == "derivable"]
    assert derivable.count(True) >= accepted
    assert derivable.count(False) >= refused
    assert sum(each.kind == "environmental" for each in judged) >= environmental
    assert sum(each.kind == "not honoured" for each in judged) <= unheard


def assert_split_without_loss(dialect: Dialect, exchanges: Iterable[Exchange]) -> None:
    """The events of an answer make up its bytes; a stream has one for each chunk. The last but pings ends it."""
    for exchange in exchanges:
        events = dialect.split_stream(exchange.headers, exchange.body)
        assert b"".join(event.data for event in events) == exchange.body, exchange.where
        if exchange.streamed:
            assert len(events) == len(exchange.chunks), exchange.where
            assert [event.kind for event in events if event.kind != "ping"][-1] == "end", exchange.where


def parsed(dialect: Dialect, kind: type[C], exchange: Exchange) -> C:
    """The recorded request as the dialect reads it, a call of this kind."""
    call = dialect.parse(exchange.request, World.with_any_key(dialect.models))
    assert isinstance(call, kind), exchange.where
    return call


def read_answer(dialect: Dialect, exchange: Exchange) -> WireAnswer:
    """The recorded answer as the dialect reads it."""
    return dialect.read_response(exchange.status, exchange.headers, exchange.body)


def assert_read_whole(answer: WireAnswer, where: str) -> None:
    """An answer of the service's, from beginning to end."""
    assert answer.error_kind is None, where
    assert answer.complete, where
    assert answer.broken_calls == 0, where


def incomplete_cuts(dialect: Dialect, exchanges: Iterable[Exchange], *, of_each: int | None = None) -> int:
    """How many cuts of streams there were; every one is read as incomplete.

    A stream is cut before each event up to the one that says how it ended, or at about `of_each` places.
    """
    cuts = 0
    for exchange in exchanges:
        events = dialect.split_stream(exchange.headers, exchange.body) if exchange.streamed else ()
        ended = next((n for n, event in enumerate(events) if event.kind == "end"), len(events) - 1)
        for cut in range(0, ended + 1, max(1, ended // of_each) if of_each else 1):
            body = b"".join(event.data for event in events[:cut])
            assert not dialect.read_response(exchange.status, exchange.headers, body).complete, (exchange.where, cut)
            cuts += 1
    return cuts


def call_or_block(part: Part) -> Json:
    """A call, or a block that no part names, in neutral words."""
    match part:
        case FunctionCall():
            return {"id": part.id, "name": part.name, "args": thaw(part.args)}
        case Opaque():
            return dict(thaw(part.data))
        case _:
            raise AssertionError(f"an answer holds no {type(part).__name__}")
