"""From times to ratios, on times that nobody took."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof.commands.bench.callers import Kind
from turnproof.commands.bench.concurrent_sessions import SESSIONS
from turnproof.commands.bench.conversations import DELTAS
from turnproof.commands.bench.figures import Key, figures, ratios, sizes, times
from turnproof.commands.bench.floor import FLOOR
from turnproof.commands.bench.report import Ratio, Size, Time
from turnproof.commands.bench.timing import Case, Series

from .sample_outcomes import Scripted


def case(kind: Kind, name: str, messages: int, *whole: float, first: tuple[float, ...] = ()) -> Case:
    return Case(kind, name, messages, Scripted(), list(whole), list(first))


def build_series(**best: float) -> dict[Key, Series]:
    """`turn_stateless_2=1.0`: figure, caller and length, with the same time in both rounds."""
    found: dict[Key, Series] = {}
    for key, value in best.items():
        figure, name, messages = key.split("_")
        found[figure, name, int(messages)] = Series(value, (value, value))  # type: ignore[index]
    return found


def compared(found: dict[Key, Series], *plain: str) -> dict[tuple[str, str, int, str, int], float]:
    return {
        (each.figure, each.caller, each.messages, each.to, each.to_messages): each.value
        for each in ratios(found, plain)
    }


def test_a_stream_gives_its_whole_its_first_piece_and_with_a_long_one_its_slope() -> None:
    found = figures(
        [
            case("long-stream", "stateless", 2, 60.0, 52.0, first=(9.0, 9.0)),
            case("turn", "stateless", 200, 4.0, 3.0),
            case("stream", "stateless", 2, 2.0, 4.0, first=(1.0, 0.5)),
        ]
    )
    assert found == {
        ("stream", "stateless", 2): Series(2.0, (2.0, 4.0)),
        ("first-delta", "stateless", 2): Series(0.5, (1.0, 0.5)),
        ("delta", "stateless", 2): Series(50 / DELTAS, (58 / DELTAS, 48 / DELTAS)),
        ("turn", "stateless", 200): Series(3.0, (4.0, 3.0)),
    }


def test_a_case_that_failed_has_no_figure_and_neither_has_what_needs_it() -> None:
    short, long = case("stream", "legacy", 2, 1.0, first=(1.0,)), case("long-stream", "legacy", 2, 9.0)
    short.failure = OverflowError()
    assert figures([short, long]) == {}


def test_a_crowd_is_told_as_a_turn_of_one_of_it() -> None:
    assert figures([case("crowd", "stateless", 20, 3000.0, 2000.0)]) == {
        ("crowd", "stateless", 20): Series(2000.0 / SESSIONS, (3000.0 / SESSIONS, 2000.0 / SESSIONS))
    }


def test_times_and_sizes_are_told_apart() -> None:
    found: dict[Key, Series] = {
        ("tls", "stateless", 2): Series(1.0, (1.0,)),
        ("peak", "stateless", 2): Series(2.0, (2.0,)),
        ("left", "stateless", 2): Series(3.0, (3.0,)),
        ("held-bare", "stateless", 200): Series(4.0, (4.0,)),
    }
    assert [time.figure for time in times(found)] == ["tls"]
    assert list(sizes(found)) == [
        Size("peak", "stateless", 2, 2.0, "bytes"),
        Size("left", "stateless", 2, 3.0, "blocks"),
        Size("held-bare", "stateless", 200, 4.0, "bytes a message"),
    ]


def test_what_is_held_without_encodings_is_held_against_all_that_a_plain_call_holds() -> None:
    found: dict[Key, Series] = {
        ("held", "create", 200): Series(1000.0, (1000.0,)),
        ("held-bare", "stateless", 200): Series(500.0, (500.0,)),
    }
    assert compared(found, "create") == {("held-bare", "stateless", 200, "create", 200): 0.5}


def test_times_are_reported_with_their_rounds() -> None:
    assert list(times({("turn", "legacy", 2): Series(1.0, (1.0, 2.0))})) == [Time("turn", "legacy", 2, 1.0, (1.0, 2.0))]


def test_a_path_is_held_against_each_plain_call_the_legacy_path_and_its_own_shortest_history() -> None:
    found = build_series(
        turn_create_2=2.0, turn_create_200=8.0, turn_chat_200=16.0,
        turn_stateless_2=1.0, turn_stateless_200=4.0, turn_legacy_200=5.0,
    )  # fmt: skip
    assert compared(found, "create", "chat") == {
        ("turn", "stateless", 2, "create", 2): 0.5,
        ("turn", "stateless", 200, "create", 200): 0.5,
        ("turn", "stateless", 200, "chat", 200): 0.25,
        ("turn", "stateless", 200, "legacy", 200): 0.8,
        ("turn", "stateless", 200, "stateless", 2): 4.0,
        ("turn", "legacy", 200, "create", 200): 0.625,
        ("turn", "legacy", 200, "chat", 200): 0.3125,
    }


def test_everybody_is_held_against_the_floor_and_plain_calls_against_nothing_else() -> None:
    found = build_series(turn_create_2=2.0, turn_create_200=8.0, turn_stateless_2=1.0, collect_stateless_2=1.0)
    found["turn", FLOOR, 2] = Series(0.5, (0.5, 0.5))
    assert {key: value for key, value in compared(found, "create").items() if key[3] == FLOOR} == {
        ("turn", "create", 2, FLOOR, 2): 4.0,
        ("turn", "stateless", 2, FLOOR, 2): 2.0,
        ("collect", "stateless", 2, FLOOR, 2): 2.0,
    }


def test_without_plain_calls_the_paths_are_held_against_each_other_and_themselves() -> None:
    found = build_series(turn_stateless_2=1.0, turn_stateless_20=2.0, turn_legacy_2=4.0)
    assert compared(found) == {
        ("turn", "stateless", 2, "legacy", 2): 0.25,
        ("turn", "stateless", 20, "stateless", 2): 2.0,
    }


def test_what_a_plain_call_cannot_do_is_held_against_its_turn() -> None:
    found = build_series(
        turn_create_200=2.0, collect_stateless_200=1.0, restore_legacy_200=4.0, delta_stateless_200=1.0
    )
    assert compared(found, "create") == {
        ("collect", "stateless", 200, "create", 200): 0.5,
        ("restore", "legacy", 200, "create", 200): 2.0,
    }


def test_the_shortest_history_is_that_of_the_same_figure() -> None:
    found = build_series(turn_stateless_2=1.0, collect_stateless_20=1.0, collect_stateless_200=3.0)
    assert compared(found) == {("collect", "stateless", 200, "stateless", 20): 3.0}


def test_a_ratio_is_the_median_of_the_quotients_within_a_round() -> None:
    found: dict[Key, Series] = {
        ("turn", "create", 2): Series(2.0, (2.0, 8.0)),
        ("turn", "stateless", 2): Series(1.0, (3.0, 1.0)),
    }
    [ratio] = ratios(found, ["create"])
    assert ratio == Ratio("turn", "stateless", 2, "create", 2, 0.8125, 0.125, 1.5)


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.01, 100)), min_size=1, max_size=9))
def test_a_ratio_never_lies_outside_of_its_own_brackets(rounds: list[tuple[float, float]]) -> None:
    ours, theirs = (tuple(side) for side in zip(*rounds, strict=True))
    found: dict[Key, Series] = {
        ("delta", "create", 2): Series(min(theirs), theirs),
        ("delta", "stateless", 2): Series(min(ours), ours),
    }
    [ratio] = ratios(found, ["create"])
    assert ratio.low <= ratio.value <= ratio.high
    assert ratio.best == ratio.low


@pytest.mark.parametrize("nothing", [Series(0.0, (0.0, 0.0)), Series(-0.1, (-0.1, -0.2))])
def test_noise_is_nothing_to_divide_by(nothing: Series) -> None:
    found: dict[Key, Series] = {
        ("delta", "create", 2): nothing,
        ("delta", "stateless", 2): Series(1.0, (1.0, 1.0)),
    }
    assert list(ratios(found, ["create"])) == []


def test_a_round_lost_in_noise_does_not_count_for_the_spread() -> None:
    found: dict[Key, Series] = {
        ("delta", "create", 2): Series(2.0, (-1.0, 2.0)),
        ("delta", "stateless", 2): Series(1.0, (1.0, 1.0)),
    }
    [ratio] = ratios(found, ["create"])
    assert (ratio.low, ratio.high) == (0.5, 0.5)
