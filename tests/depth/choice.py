"""The greedy choice: at each step the scenario with the most new detections for each second of the processor."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .detections import Detections

Detected = tuple[str, str]
"""An adapter, and a mutant of it or a requirement that is decided of it."""


@dataclass(frozen=True, slots=True)
class Scenes:
    """What each scenario costs, and what it detects by itself, over all adapters that were measured."""

    seconds: Mapping[str, float]
    detects: Mapping[str, frozenset[Detected]]

    @classmethod
    def of(cls, measured: Sequence[Detections], decides: Mapping[str, Collection[Detected]]) -> Scenes:
        """From measurements, and from which requirements each scenario decides."""
        seconds: dict[str, float] = {}
        detects: dict[str, set[Detected]] = {name: set(found) for name, found in decides.items()}
        for one in measured:
            for name, took in one.seconds.items():
                seconds[name] = seconds.get(name, 0) + took
            for mutant, scenarios in one.caught.items():
                for name in scenarios:
                    detects.setdefault(name, set()).add((one.adapter, mutant))
        return cls(seconds, {name: frozenset(detects.get(name, ())) for name in seconds})

    def detected(self, names: Collection[str]) -> frozenset[Detected]:
        """What some scenarios detect together."""
        return frozenset(found for name in names for found in self.detects.get(name, ()))

    def cost(self, names: Collection[str]) -> float:
        """Seconds of the processor for some scenarios, over all adapters."""
        return sum(self.seconds.get(name, 0) for name in names)


@dataclass(frozen=True, slots=True)
class Step:
    """One scenario of the curve: what it adds, and what there is with it."""

    scenario: str
    new: int
    detected: int
    seconds: float


def greedy(scenes: Scenes) -> Iterator[Step]:
    """All scenarios that add something, always the one that adds most for each second; by name where equal."""
    detected: set[Detected] = set()
    seconds, left = 0.0, set(scenes.seconds)
    while left:
        rates = {name: len(scenes.detects[name] - detected) / max(scenes.seconds[name], 0.001) for name in left}
        best = min(left, key=lambda name: (-rates[name], name))
        new = scenes.detects[best] - detected
        if not new:
            return
        detected |= new
        seconds += scenes.seconds[best]
        left.discard(best)
        yield Step(best, len(new), len(detected), seconds)


def alone(scenes: Scenes, names: Collection[str]) -> dict[str, frozenset[Detected]]:
    """What each of these scenarios detects that no other of them does."""
    found = {}
    for name in names:
        others = scenes.detected([one for one in names if one != name])
        found[name] = scenes.detects.get(name, frozenset()) - others
    return found


def missed(scenes: Scenes, names: Collection[str]) -> frozenset[Detected]:
    """What some scenario detects, and none of these."""
    return scenes.detected(scenes.seconds) - scenes.detected(names)


def spare(scenes: Scenes, names: Collection[str], needed: Sequence[Collection[str]]) -> list[str]:
    """What these scenarios can do without, one after the other, the dearest first: nothing is missed that they detect
    together, and of each group of `needed` that has one of them, one stays."""
    left, found = set(names), []
    whole = scenes.detected(left)
    groups = [group for group in needed if left & set(group)]
    for name in sorted(left, key=lambda one: (-scenes.seconds.get(one, 0), one)):
        rest = left - {name}
        if scenes.detected(rest) == whole and all(rest & set(group) for group in groups):
            left = rest
            found.append(name)
    return found
