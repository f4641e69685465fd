"""A stream that is resumed: what comes of it, and when it is given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from turnproof.errors import TransportError
from turnproof_adapters._calling import Source
from turnproof_adapters._resumed_stream import Position, ResumedStream

LOST = ConnectionError("lost")

Event = tuple[Position | None, str]


class Service:
    """Streams, one for each connection: events, and what it ends with."""

    def __init__(self, *streams: Sequence[Event | Exception]) -> None:
        self._streams = list(streams)
        self.closed = 0
        self.positions: list[Position] = []

    def open(self) -> Source[Event]:
        return Source(self._events(self._streams.pop(0)), self._close)

    def follow(self, last: Position) -> Source[Event]:
        self.positions.append(last)
        if not self._streams:
            raise ConnectionRefusedError
        return self.open()

    def _events(self, stream: Sequence[Event | Exception]) -> Iterator[Event]:
        for event in stream:
            if isinstance(event, Exception):
                raise event
            yield event

    def _close(self) -> None:
        self.closed += 1

    def words(self, is_lost: Callable[[Any], bool] = lambda error: isinstance(error, OSError)) -> str:
        self.words_received: list[str] = []
        stream = ResumedStream(self.open(), self.follow, lambda event: event[0], is_lost)
        for _, word in stream.events():
            self.words_received.append(word)
        stream.close()
        return "".join(self.words_received)


def numbered(text: str, first: int = 0) -> list[Event | Exception]:
    return list(enumerate(text, first))


def named(text: str, first: int = 0) -> list[Event | Exception]:
    return [(f"e{number}", word) for number, word in enumerate(text, first)]


@pytest.mark.parametrize("events", [numbered, named])
def test_each_connection_goes_on_where_the_last_one_broke(events: Any) -> None:
    service = Service([*events("ab"), LOST], [*events("c", 2), LOST], events("de", 3))
    assert service.words() == "abcde"
    assert service.positions in ([1, 2], ["e1", "e2"])
    assert service.closed == 3


@pytest.mark.parametrize("events", [numbered, named])
def test_what_comes_again_is_left_out(events: Any) -> None:
    assert Service([*events("ab"), LOST], events("abcd")).words() == "abcd"


def test_a_gap_between_numbers_is_a_failure() -> None:
    service = Service([*numbered("ab"), LOST], numbered("def", 3))
    with pytest.raises(TransportError, match="behind event 1, and goes on with event 3"):
        service.words()
    assert service.words_received == ["a", "b"]


def test_numbers_are_compared_where_a_stream_is_resumed_and_nowhere_else() -> None:
    events: list[Event | Exception] = [(0, "a"), (5, "b"), (5, "c"), (None, "d")]
    assert Service(events).words() == "abcd"


def test_a_number_that_is_out_of_order_is_not_the_last_one() -> None:
    service = Service([*numbered("abc"), (0, ""), (None, ""), LOST], numbered("d", 3))
    assert service.words() == "abcd"
    assert service.positions == [2]


def test_an_event_without_a_position_is_passed_on() -> None:
    assert Service([*numbered("ab"), LOST], [(None, "-"), *numbered("c", 2)]).words() == "ab-c"


@pytest.mark.parametrize(
    "streams",
    [([LOST],), ([(None, "a"), LOST],), ([*numbered("ab"), LOST], [LOST]), ([*numbered("ab"), LOST], [(1, "b"), LOST])],
    ids=["nothing came", "no position", "nothing more came", "nothing new came"],
)
def test_it_is_given_up_where_a_connection_brings_nothing_new(streams: Any) -> None:
    service = Service(*streams, numbered("never"))
    with pytest.raises(ConnectionError, match="lost"):
        service.words()
    assert len(service.positions) == len(streams) - 1


def test_a_stream_that_cannot_be_opened_again_ends_in_its_own_failure() -> None:
    service = Service([*numbered("ab"), LOST])
    with pytest.raises(ConnectionError, match="lost") as raised:
        service.words()
    assert raised.value.__context__ is raised.value.__cause__ is None
    assert service.positions == [1]


def test_a_failure_that_is_none_of_the_connection_passes_through() -> None:
    service = Service([*numbered("ab"), ValueError("no")], numbered("c", 2))
    with pytest.raises(ValueError, match="no"):
        service.words()
    assert service.positions == []


def test_a_stream_that_ends_too_early_is_resumed() -> None:
    service = Service(numbered("ab"), numbered("cd", 2))
    assert service.words(lambda error: len(service.words_received) < 4) == "abcd"
