"""What is allocated and what is held: counted where it happens, and in a process of its own."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from turnproof.commands.bench import allocations, memory
from turnproof.commands.bench.memory import Holding, bytes_per_message
from turnproof.errors import ProviderError

from .sample_outcomes import Scripted

pytestmark = pytest.mark.long

LEAK: list[object] = []


def test_a_peak_is_what_a_turn_holds_at_once() -> None:
    def large() -> None:
        bytearray(1_000_000)
        bytearray(3_000_000)

    assert 3_000_000 <= allocations.peak(Scripted(on_call=large)) < 3_100_000
    assert not tracemalloc.is_tracing()


def test_what_is_left_is_what_the_turn_did_not_give_back() -> None:
    def hoard() -> None:
        LEAK.append([object() for _ in range(1000)])

    assert 1000 <= allocations.blocks_left(Scripted(on_call=hoard)) < 1100
    LEAK.clear()


def test_the_collector_works_again_after_a_turn_that_failed() -> None:
    def fail() -> None:
        raise OverflowError

    with pytest.raises(OverflowError):
        allocations.peak(Scripted(on_call=fail))
    assert gc.isenabled()
    assert not tracemalloc.is_tracing()


weighs = pytest.mark.skipif(not memory.can_measure(), reason="the system does not say how large a process is")


def of(caller: str, *, bare: bool = False) -> float | None:
    """What sessions of an adapter hold that keeps a kilobyte beside each message."""
    return bytes_per_message(
        Holding("commands.bench.sample_outcomes:HOARDER", caller, "http://127.0.0.1:9", bare),
        sessions=100,
        messages=100,
    )


@weighs
def test_what_a_path_keeps_beside_its_messages_is_weighed_and_what_it_drops_is_not() -> None:
    whole, bare = of("stateless"), of("stateless", bare=True)
    assert whole is not None
    assert bare is not None
    assert 900 < whole - bare < 1300
    assert 300 < bare < 1500


@weighs
def test_a_plain_call_is_weighed_by_the_history_that_it_shows() -> None:
    weight = of("native")
    assert weight is not None
    assert 500 < weight < 2500
    assert of("mute") is None


def test_what_the_adapter_raises_is_told_with_its_name() -> None:
    with pytest.raises(ProviderError, match="KeyError: 'absent'"):
        of("absent")
