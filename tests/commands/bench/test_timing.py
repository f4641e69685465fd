"""How times are taken, on a clock that the test moves: no figure here comes from a real one."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

from turnproof.commands.bench import timing
from turnproof.commands.bench.callers import Caller, Kind
from turnproof.commands.bench.timing import Case, Series, measure, series, slope

from .sample_outcomes import Scripted

pytestmark = pytest.mark.long


class Clock:
    """CPU time that passes only where a call spends it, in nanoseconds."""

    def __init__(self) -> None:
        self.now = 1_000

    def spends(self, *milliseconds: float) -> Callable[[], None]:
        """A call that takes these times, one after the other, and then the last one for ever."""
        waiting = list(milliseconds)

        def spend() -> None:
            self.now += int((waiting.pop(0) if len(waiting) > 1 else waiting[0]) * 1e6)

        return spend


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    fake_clock = Clock()
    monkeypatch.setattr(timing, "process_time_ns", lambda: fake_clock.now)
    return fake_clock


def quiet(done: int, total: int, what: str) -> None:
    pass


def test_only_the_call_is_measured(clock: Clock) -> None:
    class Slow(Scripted):
        def ready(self) -> None:
            clock.now += 10**12

    case = Case("turn", "slow", 2, Slow(on_call=clock.spends(3)))
    assert case.turn() == (3_000_000, 0)


def test_the_first_piece_is_measured_from_the_call_on(clock: Clock) -> None:
    class Streaming(Scripted):
        def stream(self, on_chunk: Callable[[str], None]) -> None:
            clock.now += 2
            on_chunk("one")
            clock.now += 5
            on_chunk("two")

    assert Case("stream", "caller", 2, Streaming()).turn() == (7, 2)


@pytest.mark.parametrize("kind", ["turn", "collect", "restore", "stream", "long-stream"])
def test_every_turn_is_made_ready_and_asked_in_its_way(kind: Kind, clock: Clock) -> None:
    caller = Scripted()
    case = Case(kind, "caller", 2, caller)
    case.turn()
    case.turn()
    assert caller.done == ["ready", "stream" if "stream" in kind else "ask"] * 2


@pytest.mark.parametrize(("cost", "turns"), [(0, 30), (0.1, 30), (6, 10), (20, 3), (499, 3)])
def test_costly_turns_are_taken_less_often(cost: float, turns: int, clock: Clock) -> None:
    caller = Scripted(on_call=clock.spends(cost))
    case = Case("turn", "caller", 2, caller)
    case.warm_up()
    assert (case.turns, case.whole) == (turns, [])
    case.round()
    assert caller.done.count("ask") == 2 + turns


def test_what_takes_half_a_second_is_asked_once_and_warmed_up_once(clock: Clock) -> None:
    caller = Scripted(on_call=clock.spends(500))
    case = Case("turn", "caller", 2, caller)
    case.warm_up()
    assert (case.turns, caller.done.count("ask")) == (1, 1)


def test_without_a_warm_up_every_round_is_one_turn(clock: Clock) -> None:
    caller = Scripted(on_call=clock.spends(9, 1))
    reports: list[tuple[int, int]] = []
    case = Case("conversation", "caller", 2, caller)
    measure([case], 2, lambda done, total, what: reports.append((done, total)), warm_up=False)
    assert (case.whole, caller.done.count("ask"), reports) == ([9.0, 1.0], 2, [(1, 2), (2, 2)])


def test_a_round_is_the_median_of_its_turns(clock: Clock) -> None:
    case = Case("turn", "caller", 2, Scripted(on_call=clock.spends(1, 900, 2, 3, 4)))
    case.turns = 5
    case.round()
    assert case.whole == [3.0]


def test_a_case_that_fails_ends_and_the_others_go_on(clock: Clock) -> None:
    def fail() -> None:
        raise OverflowError("enough")

    good, bad = Case("turn", "good", 2, Scripted()), Case("turn", "bad", 2, Scripted(on_call=fail))
    measure([good, bad], 2, quiet)
    assert len(good.whole) == 2
    assert good.failure is None
    assert isinstance(bad.failure, OverflowError)
    assert bad.whole == []
    assert bad.caller.done.count("ask") == 1  # type: ignore[attr-defined]


def test_an_interrupt_is_not_an_adapters_failure(clock: Clock) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure([Case("turn", "stopped", 2, Scripted(on_call=interrupt))], 1, quiet)
    assert gc.get_freeze_count() == 0


def test_every_case_is_in_every_round_and_the_order_changes(clock: Clock) -> None:
    seen: list[str] = []

    def noting(name: str) -> Caller:
        return Scripted(on_call=lambda: seen.append(name))

    reports: list[tuple[int, int]] = []
    cases = [Case("turn", name, 2, noting(name)) for name in "abcdefgh"]
    measure(cases, 3, lambda done, total, what: reports.append((done, total)))
    # A visit is a run of calls of one case: the warm-up's two, then a round's many.
    visits = [name for place, name in enumerate(seen) if place == 0 or seen[place - 1] != name]
    assert all(len(case.whole) == 3 for case in cases)
    assert reports == [(number, 32) for number in range(1, 33)]
    rounds = [visits[start : start + 8] for start in (0, 8)]
    assert rounds[0] != rounds[1]


def test_a_series_is_its_best_round() -> None:
    assert series([3.0, 2.0, 5.0]) == Series(2.0, (3.0, 2.0, 5.0))


def test_a_slope_is_taken_between_the_best_rounds_of_both() -> None:
    assert slope([105.0, 115.0], [15.0, 5.0], 100) == Series(1.0, (0.9, 1.1))
