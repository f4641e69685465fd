"""Goals as data: what ratios are to be at the most. `goals.toml` has those of the reference adapters."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import msgspec

from ...errors import UsageError
from .report import Bench, Figure, GoalResult, OwnRatio, Ratio, Standing, words_of

_Limit = Annotated[float, msgspec.Meta(ge=0)]


class Goal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """This ratio is at most so much, for each of these adapters and lengths of history.

    `id` is what it is called in tables. `to_messages` is as long as `messages` unless it is given. `stretch` is what is
    aimed at beyond the goal.
    """

    id: str = ""
    adapter: str | tuple[str, ...]
    figure: Figure
    caller: str
    to: str
    messages: int | tuple[int, ...]
    at_most: _Limit
    stretch: _Limit | None = None
    to_messages: int | None = None

    def __post_init__(self) -> None:
        _below(self.stretch, self.at_most)

    @property
    def adapters(self) -> tuple[str, ...]:
        """Whom it is about."""
        return (self.adapter,) if isinstance(self.adapter, str) else self.adapter

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of history that it is about."""
        return (self.messages,) if isinstance(self.messages, int) else self.messages

    def at(self, adapter: str, messages: int, ratios: Sequence[tuple[str, Ratio]]) -> GoalResult:
        """What became of it for one adapter and length."""
        to_messages = self.to_messages or messages
        key = (self.figure, self.caller, messages, self.to, to_messages)
        found = next((ratio for name, ratio in ratios if name == adapter and ratio.key == key), None)
        return _judge(self, adapter, words_of(*key), found)


class OwnGoal(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """This ratio of turnproof's own figures is at most so much; see `OwnRatio`."""

    id: str = ""
    figure: str
    of: str
    to: str
    at_most: _Limit
    stretch: _Limit | None = None

    def __post_init__(self) -> None:
        _below(self.stretch, self.at_most)

    def among(self, ratios: Sequence[OwnRatio]) -> GoalResult:
        """What became of it."""
        key = (self.figure, self.of, self.to)
        found = next((ratio for ratio in ratios if (ratio.figure, ratio.of, ratio.to) == key), None)
        return _judge(self, "turnproof", f"{self.figure}, {self.of} / {self.to}", found)


class Goals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Those of adapters, and of turnproof itself."""

    goal: tuple[Goal, ...]
    own: tuple[OwnGoal, ...] = ()


def load_goals(file: Path | None = None) -> Goals:
    """The goals of a file, those of the reference adapters by default.

    Raises UsageError, with file and path to the spot, for a file that cannot be read or is no table of goals.
    """
    name = str(file or "goals.toml")
    try:
        text = file.read_text("utf-8") if file is not None else (files(__package__) / "goals.toml").read_text("utf-8")
        return msgspec.convert(tomllib.loads(text), Goals)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{name}: cannot read it as TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {error}") from error


def standings(goals: Goals, bench: Bench) -> Iterator[GoalResult]:
    """What became of the goals of the adapters that were measured, and of turnproof where that was, in their order."""
    ratios = list(bench.ratios())
    for goal in goals.goal:
        for adapter in goal.adapters:
            if adapter in bench.adapters:
                yield from (goal.at(adapter, messages, ratios) for messages in goal.lengths)
    if bench.own is not None:
        yield from (goal.among(bench.own.ratios) for goal in goals.own)


def _judge(goal: Goal | OwnGoal, subject: str, words: str, ratio: Ratio | OwnRatio | None) -> GoalResult:
    """A goal is missed only if the best round misses it, so that no noise alone does; a stretch is reached only by the
    ratio itself."""
    if ratio is None:
        return GoalResult(goal.id, subject, words, goal.at_most, goal.stretch, "not measured")
    standing: Standing = "reached" if ratio.best <= goal.at_most else "missed"
    if standing == "reached" and goal.stretch is not None and ratio.value <= goal.stretch:
        standing = "stretch reached"
    return GoalResult(goal.id, subject, words, goal.at_most, goal.stretch, standing, ratio.value, ratio.low, ratio.high)


def _below(stretch: float | None, at_most: float) -> None:
    if stretch is not None and stretch > at_most:
        raise ValueError(f"the stretch, {stretch:g}, is easier than the goal, {at_most:g}")
