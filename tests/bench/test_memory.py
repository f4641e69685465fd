"""What is allocated and what is held: counted where it happens, and in a process of its own."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from turnproof.bench import allocations, memory
from turnproof.bench.callers import open_caller
from turnproof.bench.canned import CannedServer
from turnproof.bench.conversations import WHOLE
from turnproof.bench.meeting import canned_responses
from turnproof.bench.memory import Holding, held
from turnproof.bindings import resolve_binding
from turnproof.dialects import dialect
from turnproof.emulator import EmulatorServer
from turnproof.errors import ProviderError

from .made_up import Scripted

KEPT: list[object] = []


def test_a_peak_is_what_a_turn_holds_at_once() -> None:
    def large() -> None:
        bytearray(1_000_000)
        bytearray(3_000_000)

    assert 3_000_000 <= allocations.peak(Scripted(on_call=large)) < 3_100_000
    assert not tracemalloc.is_tracing()


def test_what_is_left_is_what_the_turn_did_not_give_back() -> None:
    def hoard() -> None:
        KEPT.append([object() for _ in range(1000)])

    assert 1000 <= allocations.left(Scripted(on_call=hoard)) < 1100
    KEPT.clear()


def test_the_collector_works_again_after_a_turn_that_failed() -> None:
    def fail() -> None:
        raise OverflowError

    with pytest.raises(OverflowError):
        allocations.peak(Scripted(on_call=fail))
    assert gc.isenabled()
    assert not tracemalloc.is_tracing()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where the reference adapter's stateless path is answered."""
    binding = resolve_binding("anthropic")
    wire = dialect(binding.dialect)
    with EmulatorServer() as emulator, CannedServer() as server:
        answered = canned_responses(
            emulator, wire, lambda base: open_caller(binding, "stateless", "turn", base, 2), WHOLE
        )
        yield server.add(answered, wire.service.base_path)


@pytest.mark.skipif(not memory.can_measure(), reason="the system does not say how large a process is")
def test_more_is_held_with_encodings_than_without(url: str) -> None:
    whole = held(Holding("anthropic", "stateless", url), sessions=30, messages=100)
    bare = held(Holding("anthropic", "stateless", url, bare=True), sessions=30, messages=100)
    assert whole is not None
    assert bare is not None
    assert whole > bare > 200


def test_what_the_adapter_raises_is_told_with_its_name() -> None:
    with pytest.raises(ProviderError, match="TransportError"):
        held(Holding("anthropic", "stateless", "http://127.0.0.1:9"), sessions=1, messages=2)
