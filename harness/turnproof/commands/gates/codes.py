"""Codes of what gates find, `gate/CHECK/WHAT`, with the words for each. A code stands beside the check that uses it.

A code is never renamed and never given to anything else, so that gates can be compared when their words have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET

from ...judge.finding import Place, Side
from ...judge.finding_words import Template
from ...judge.requirements import FindingCode, Registry
from ...judge.verdict import Status
from .decision import Reason, Spot

NOWHERE: Final = Place(side=Side.PROCESS)
"""The place of what no single run shows."""

_REGISTRY = Registry()


@dataclass(frozen=True, slots=True)
class ReasonCode:
    """A code with the status that it gives to a criterion. Calling it makes a reason."""

    status: Status
    finding: FindingCode

    def __call__(
        self,
        place: Place = NOWHERE,
        *,
        expected: object = UNSET,
        observed: object = UNSET,
        related: Iterable[Place] = (),
        name: str = "",
        spot: Spot | None = None,
        command: str = "",
        evidence: Iterable[str] = (),
        **facts: Any,
    ) -> Reason:
        """A reason at a place. `facts` are what else the template names."""
        found = self.finding(place, expected=expected, observed=observed, related=related, **facts)
        return Reason(
            status=self.status, finding=found, name=name, spot=spot, command=command, evidence=tuple(evidence)
        )


def closes(code: str, title: str, expected: str = "{expected}", observed: str = "{observed}") -> ReasonCode:
    """Register what closes a criterion. The words are those of `Registry.finding`."""
    return ReasonCode(Status.VIOLATED, _REGISTRY.finding(f"gate/{code}", title, expected, observed))


def leaves_undecided(code: str, title: str, expected: str = "", observed: str = "") -> ReasonCode:
    """Register what keeps a criterion from being decided. Without templates the title says all of it."""
    return ReasonCode(Status.INCONCLUSIVE, _REGISTRY.finding(f"gate/{code}", title, expected, observed))


def is_not_asked(code: str, title: str, expected: str = "", observed: str = "") -> ReasonCode:
    """Register why a criterion is not asked for. Without templates the title says all of it."""
    return ReasonCode(Status.NOT_CLAIMED, _REGISTRY.finding(f"gate/{code}", title, expected, observed))


def gate_templates() -> Mapping[str, Template]:
    """The words for every code of gates."""
    return _REGISTRY.templates
