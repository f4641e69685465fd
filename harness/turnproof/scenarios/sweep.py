"""One answer, cancelled and broken at every one of its events: a scenario for each point, derived from the one that
says which answer.

A point is named after its scenario, what happens and after which event: `sweep/calls#cancel@7`. Events are counted from
0, pings aside. The name alone says everything, so that evidence is judged again without knowing how many points there
were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias, get_args

from msgspec.structs import replace

from .._base.counts import counted
from ..messages import FunctionCall, Text, Thought
from ._consistency import needed_features
from ._located_value import LocatedValue
from .model import Cut, Fault, Scenario, ScriptRound, Swept, Turn

Happening: TypeAlias = Literal["cancel", "reset", "stall", "truncate", "garbage", "error-event", "no-end", "kill"]
HAPPENINGS: Final[tuple[Happening, ...]] = get_args(Happening)
"""All that can happen at an event: a cancel, every fault that has a place in a stream, and for an agent's processes
that they are killed."""

_USUAL: Final = tuple(one for one in HAPPENINGS if one != "kill")
"""What happens where a scenario does not say what."""

_OF_NO_ACCOUNT_AT_THE_END: Final = ("no-end", "garbage", "error-event")
"""Behind the last event nothing is missing from the answer, and who has it whole need not read on."""

PATIENCE: Final = 0.3
"""Seconds of silence after which a client gives up on a stalled answer here; the service says nothing ever again."""

_HAPPENING_WORDS: Final[Mapping[Happening, str]] = {
    "cancel": "cancelled after",
    "reset": "the connection is reset after",
    "stall": "silence after",
    "truncate": "closed in the middle of",
    "garbage": "a broken frame after",
    "error-event": "an error event after",
    "no-end": "the stream ends after",
    "kill": "the agent is killed after",
}


def points(scenario: Scenario, events: int) -> Iterator[Scenario]:
    """Every point of a swept scenario whose answer has so many events, event by event."""
    assert scenario.sweep is not None or not events
    chosen = scenario.sweep.only if scenario.sweep is not None and scenario.sweep.only else _USUAL
    for index in range(events):
        for happening in HAPPENINGS:
            if happening not in chosen:
                continue
            if index < events - 1 or happening not in _OF_NO_ACCOUNT_AT_THE_END:
                yield _point(scenario, happening, index)


def is_point(name: str) -> bool:
    """Whether this is the name of a point, and not of a scenario with a file of its own."""
    return "#" in name


def base_of(name: str) -> str:
    """The name of the scenario that a point is derived from; any other name is its own."""
    return name.partition("#")[0]


def scenario_named(name: str, known: Mapping[str, Scenario]) -> Scenario | None:
    """The scenario of that name, be it a point of a known one; None if there is none."""
    if name in known:
        return known[name]
    base = known.get(base_of(name))
    happening, _, index = name.partition("#")[2].partition("@")
    if base is None or base.sweep is None or not index.isdecimal():
        return None
    found = next((one for one in HAPPENINGS if one == happening), None)
    point = _point(base, found, int(index)) if found is not None else None
    return point if point is not None and point.name == name else None


def read_sweep(spot: LocatedValue, turns: tuple[Turn, ...]) -> Swept:
    """Which answer is swept. Raises ScenarioError unless a turn follows, and every run has the answer's same events."""
    spot.mapping(("turn", "round", "only"), what="a sweep")
    turn, round_ = ((value_spot.integer(0) if (value_spot := spot.get(key)) else 0) for key in ("turn", "round"))
    if not any(later.user for later in turns[turn + 1 :]):
        spot.refuse(f"turn {turn} is not followed by another one, which would show what is left of it")
    swept = turns[turn]
    if swept.cancel is not None or swept.faults:
        spot.refuse(f"turn {turn} is cancelled or broken already")
    if round_ >= len(swept.rounds):
        spot.refuse(f"turn {turn} has {counted(len(swept.rounds), 'round')}, counted from 0, so no round {round_}")
    if not _is_cut_by_hand(swept.rounds[round_]):
        spot.refuse("every text, thinking and call of this answer needs its pieces: else each run cuts it elsewhere")
    return Swept(turn, round_, only.choices(HAPPENINGS) if (only := spot.get("only")) else ())


def _is_cut_by_hand(round_: ScriptRound) -> bool:
    for part in round_.parts:
        match part.part:
            case Text(text=text) | Thought(text=text):
                whole = not text
            case FunctionCall(args=args):
                whole = not args
            case _:
                whole = True
        if not (whole or part.pieces):
            return False
    return True


def _point(scenario: Scenario, happening: Happening, index: int) -> Scenario:
    assert scenario.sweep is not None
    at, round_ = scenario.sweep.turn, scenario.sweep.round
    turns = list(scenario.turns)
    if happening == "cancel" or happening == "kill":
        killed = happening == "kill"
        cut = Cut("event", round_, index, by="kill" if killed else "token")
        ends: Literal["error", "cancelled"] = "error" if killed else "cancelled"
        turns[at] = replace(turns[at], rounds=turns[at].rounds[: round_ + 1], cancel=cut, expect=ends)
    else:
        status = 529 if happening == "error-event" else 0
        turns[at] = replace(turns[at], faults=(Fault(happening, round_, index, status),))
    point = replace(
        scenario,
        name=f"{scenario.name}#{happening}@{index}",
        title=f"{scenario.title}: {_HAPPENING_WORDS[happening]} event {index}",
        turns=tuple(turns),
        modes=("stream",),
        options={**scenario.options, "timeout": PATIENCE} if happening == "stall" else scenario.options,
        probes=(),
        depth="full",
        sweep=None,
    )
    return replace(point, features=tuple(sorted({*scenario.features, *needed_features(point)})))
