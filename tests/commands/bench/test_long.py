"""What a full run measures beside single turns, made small: every figure of every caller, and TLS."""

from __future__ import annotations

from functools import partial

import pytest

from turnproof.commands.bench import memory, open_callers, whole_conversation
from turnproof.commands.bench.adapter import measure_adapter
from turnproof.commands.bench.canned_provider import CannedServer
from turnproof.commands.bench.concurrent_sessions import crowd_of, open_crowd
from turnproof.commands.bench.memory import Holding
from turnproof.commands.bench.open_callers import Plan, temporary_certificate
from turnproof.commands.bench.report import AdapterBench
from turnproof.report.progress import Silence
from turnproof.run.bindings import resolve_binding

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")


@pytest.fixture(scope="module")
def small() -> AdapterBench:
    """One run of the reference adapter with conversations of two turns and crowds of three."""
    certificate = temporary_certificate()
    plan = Plan(("stateless", "legacy"), (2,), 1, long=True, certificate=certificate)
    with pytest.MonkeyPatch.context() as patched, CannedServer(certificate.server) as server:
        patched.setattr(open_callers, "open_crowd", partial(open_crowd, sessions=3))
        patched.setattr(open_callers, "crowd_of", partial(crowd_of, sessions=3))
        patched.setattr(open_callers, "TURNS", 2)
        patched.setattr(whole_conversation, "TURNS", 2)
        patched.setattr(memory, "can_measure", lambda: True)
        patched.setattr(memory, "bytes_per_message", _bytes_per_message)
        return measure_adapter("anthropic", resolve_binding("anthropic"), plan, server, Silence())


def _bytes_per_message(holding: Holding) -> float | None:
    assert holding.spec == "anthropic"
    return None if holding.caller != "stateless" else 500.0 if holding.bare else 1000.0


def test_nothing_fails(small: AdapterBench) -> None:
    assert small.problems == ()


@pytest.mark.parametrize(
    ("figure", "callers"),
    [
        ("tls", {"floor.httpx2", "stateless", "legacy"}),
        ("conversation", {"messages.create", "stateless", "legacy"}),
        ("crowd", {"floor.httpx2", "messages.create", "stateless", "legacy"}),
    ],
)
def test_every_long_figure_has_its_callers(small: AdapterBench, figure: str, callers: set[str]) -> None:
    found = [time for time in small.times if time.figure == figure]
    assert {time.caller for time in found} == callers
    assert all(len(time.rounds) == 1 for time in found)


def test_allocations_are_counted_for_everybody_who_takes_turns(small: AdapterBench) -> None:
    for figure in ("peak", "left"):
        callers = {size.caller for size in small.sizes if size.figure == figure}
        assert callers == {"floor.httpx2", "messages.create", "stateless", "legacy"}
    assert all(size.amount > 0 for size in small.sizes)


def test_memory_that_a_plain_call_does_not_show_is_left_out(small: AdapterBench) -> None:
    amounts = {(size.figure, size.caller): size.amount for size in small.sizes if size.figure.startswith("held")}
    assert amounts == {("held", "stateless"): 1000.0, ("held-bare", "stateless"): 500.0}


def test_the_messages_that_a_turn_encodes_are_its_new_ones(small: AdapterBench) -> None:
    encoded = {(count.operation, count.path): count.encoded for count in small.counts}
    assert encoded["turn", "stateless"] == 1
    assert encoded["restore", "stateless"] == 3
    assert encoded["turn", "legacy"] is None
