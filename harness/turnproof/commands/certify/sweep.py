"""The sweep of a full certification: after the plan's runs, one more for every point of the answers to be swept.

How many points there are is what the server wrote: the events of the same answer in the run where nothing happened to
it. Points are run where the emulator answers, since no cassette holds what a session says after a cancel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from ...judge.view import View
from ...run.driver import RunSpec
from ...run.transcript import RunKey
from ...scenarios.sweep import base_of, is_point, points
from .decide import lacking_for
from .plan import Plan, Plannable


class Sweep:
    """What is to be swept: the subjects named `specs`, at the points that fit one of `patterns` (all without any)."""

    def __init__(self, specs: Collection[str], patterns: Sequence[str] = ()) -> None:
        self._specs = frozenset(specs)
        self._patterns = tuple(patterns)

    def runs(self, plan: Plan, spec: str, subject: Plannable, views: Iterable[View]) -> Iterator[RunSpec]:
        """The points of one subject, path by path. `views` are those of the plan's runs.

        There is no second run of a point: on each path it is judged by itself, and the paths are not compared.
        """
        claims = subject.claims()
        planned = {item.requirement for item in plan.items if item.adapter == spec}
        judged = [requirement for requirement in planned if not requirement.lacks(claims)]
        for view in views if spec in self._specs else ():
            if view.key.repeat:
                continue
            for point in points(view.scenario, events_written(view)):
                fits = not self._patterns or any(fnmatchcase(point.name, pattern) for pattern in self._patterns)
                if not fits or lacking_for(point, claims, subject.operations):
                    continue
                if any(requirement.looks_at(point.name) for requirement in judged):
                    yield RunSpec(spec, point, RunKey(point.name, view.key.path))

    def talk(self, views: Mapping[str, Sequence[View]]) -> list[str]:
        """What was to be swept and was not, a line each. `views` has all runs of each subject."""
        lines = [f"{spec}: not swept, since it was not emulated" for spec in views if spec not in self._specs]
        swept = [(spec, view) for spec, own_views in views.items() for view in own_views if is_point(view.key.scenario)]
        lines += [f"{spec}: {view.key} was not reached" for spec, view in swept if not _happened(view)]
        names = {view.key.scenario for _, view in swept}
        for pattern in filter(is_point, self._patterns):
            if not any(fnmatchcase(name, pattern) for name in names):
                lines.append(f"no point of the sweep matches {pattern!r}")
        return lines


def events_written(view: View) -> int:
    """How many events the server wrote of the answer that is to be swept, pings aside; 0 where none is."""
    sweep = view.scenario.sweep
    if sweep is None or not view.streamed:
        return 0
    # In an undisturbed run every request of a turn is a round of it.
    exchanges = [exchange for exchange in view.exchanges if exchange.request.turn == sweep.turn and exchange.generates]
    if sweep.round >= len(exchanges):
        return 0
    return sum(event.kind != "ping" for event in exchanges[sweep.round].events)


def base_patterns(patterns: Iterable[str]) -> list[str]:
    """Patterns of scenarios and points as patterns of scenarios that have files: what a point is derived from."""
    return list(dict.fromkeys(map(base_of, patterns)))


def _happened(view: View) -> bool:
    return any(exchange.held or exchange.fault is not None for exchange in view.exchanges)
