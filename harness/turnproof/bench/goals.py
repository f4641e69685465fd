"""Goals as data: what an adapter's ratios are to be at the most. `goals.toml` has those of the reference adapters."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from ..errors import UsageError
from .report import Bench, Figure, GoalResult, Ratio


class Goal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One goal: this ratio is at most so much. `to_messages` is `messages` unless it is given."""

    adapter: str
    figure: Figure
    caller: str
    to: str
    messages: int
    at_most: float
    to_messages: int | None = None

    def is_about(self, adapter: str, ratio: Ratio) -> bool:
        """Whether this ratio of that adapter is the one."""
        wanted = (self.figure, self.caller, self.messages, self.to, self.to_messages or self.messages)
        return self.adapter == adapter and wanted == (
            ratio.figure,
            ratio.caller,
            ratio.messages,
            ratio.to,
            ratio.to_messages,
        )


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    goal: tuple[Goal, ...]


def load_goals(file: Path | None = None) -> tuple[Goal, ...]:
    """The goals of a file, those of the reference adapters by default.

    Raises UsageError, with file and path to the spot, for a file that cannot be read or is no table of goals.
    """
    name = str(file or "goals.toml")
    try:
        text = file.read_text("utf-8") if file is not None else (files(__package__) / "goals.toml").read_text("utf-8")
        return msgspec.convert(tomllib.loads(text), _File).goal
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{name}: cannot read it as TOML: {error}") from error
    except msgspec.ValidationError as error:
        raise UsageError(f"{name}: {error}") from error


def standings(goals: Sequence[Goal], bench: Bench) -> Iterator[GoalResult]:
    """What became of the goals of the adapters that were measured, in the order of the goals."""
    for goal in goals:
        if goal.adapter not in bench.adapters:
            continue
        found = next((ratio for name, ratio in bench.ratios() if goal.is_about(name, ratio)), None)
        to_messages = goal.to_messages or goal.messages
        what = (goal.adapter, goal.figure, goal.caller, goal.messages, goal.to, to_messages, goal.at_most)
        if found is None:
            yield GoalResult(*what, "not measured")
        else:
            yield GoalResult(*what, "met" if found.best <= goal.at_most else "missed", found.value, found.best)
