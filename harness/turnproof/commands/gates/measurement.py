"""What a gate is decided from: the runs of one subject by how the flag stood, and how its own tests ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from ..._base.settings import KnownIssue
from ...judge.parity import Comparison, compare_paths
from ...judge.requirements import Suite
from ...judge.view import View
from ...provider import Difference
from ...scenarios import Scenario
from ...subject import Subject
from .class_source import Source
from .existing_tests import CommandRun
from .flag import FlagPlan
from .phases import Setting
from .session_path import on_path


@dataclass(frozen=True)
class Measured:
    """Everything that the criteria of a phase read.

    runs:     the first run of each scenario and mode, by setting of the flag.
    alone:    the runs of the adapter by itself, where the session shows no calls of its provider.
    again:    a second run of each with the flag off, which tells noise from difference.
    excused:  the differences between the paths that are meant.
    declared: those of them that are declared for this very subject, and so have to occur.
    whole:    whether every scenario was run that could show a difference.
    tests:    how the project's own tests ended, by setting; none if they are not configured.
    scenarios: all scenarios of the suite, run or not.
    issues:   the violations of requirements that the settings accept, as far as they are of this subject.
    protocol, named, session_class: the classes that the settings name, to be looked at as source.
    today:    the day by which what is accepted expires.
    """

    subject: Subject
    phase: int
    flag: FlagPlan
    suite: Suite
    runs: Mapping[Setting, Sequence[View]]
    alone: Sequence[View] = ()
    again: Sequence[View] = ()
    excused: Sequence[Difference] = ()
    declared: Sequence[Difference] = ()
    whole: bool = False
    tests: Mapping[Setting, CommandRun] = field(default_factory=dict)
    scenarios: Sequence[Scenario] = ()
    issues: Sequence[KnownIssue] = ()
    protocol: Source | None = None
    named: Sequence[Source] = ()
    session_class: Source | None = None
    today: date = field(default_factory=date.today)

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The run with the flag on against the one with the flag off, wherever both are on the path they should be.

        Children are left out: where providers own the history each has one to itself, which it opens and signs in.
        """
        off = [*self.runs.get("off", ()), *self.again]
        sound = [view for view in off if not view.finished or on_path(view, "legacy")]
        sound += [view for view in self.runs.get("on", ()) if not view.finished or on_path(view, "stateless")]
        return compare_paths(view for view in sound if "spawn" not in view.scenario.operations)

    @property
    def astray(self) -> tuple[View, ...]:
        """The finished runs with the flag off and on that are not known to be on the path they should be."""
        return tuple(
            view
            for setting in ("off", "on")
            for view in self.runs.get(setting, ())
            if view.finished and not on_path(view, self.flag.path(setting, self.phase))
        )
