"""What a matrix of hand-offs shows, as data: `handoff.json` is its JSON."""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

import msgspec

from .._base.exit_codes import Exit
from ..judge.requirements import Level
from ..provider import Path

SCHEMA = "turnproof.handoff/1"

Fate: TypeAlias = Literal["left-out", "unsigned", "told", "renamed"]
"""What became of a part: left out of the request; sent, but without what its issuer added to it; told in words where
the API has no part of its kind; sent under another id or name."""


class Party(msgspec.Struct, frozen=True, order=True):
    """Who a conversation can be handed to: an adapter on one of its paths, with its model."""

    adapter: str
    path: Path
    dialect: str
    model: str

    @property
    def label(self) -> str:
        """What tables call it."""
        return f"{self.adapter}/{self.path}"


class Loss(msgspec.Struct, frozen=True):
    """One part of the conversation so far that did not reach the new model as it was.

    `place` is its JSON path in the history, `part` its kind, `shown` the beginning of what it says. `issuer` is the
    dialect whose provider data it carries, and `own` whether that is the dialect (and model) that it is sent to.
    """

    fate: Fate
    part: str
    place: str
    shown: str
    issuer: str | None = None
    own: bool = False


class Unmet(msgspec.Struct, frozen=True):
    """A requirement that a leg violates, or that it leaves open."""

    requirement: str
    level: Level
    message: str


class Leg(msgspec.Struct, frozen=True):
    """What one party did with the conversation: the turns from `first` to `last`, counted from 1.

    `held` counts requirements that the leg holds. `signed` counts parts of the history with provider data of this very
    dialect and model, `restored` those of them that its request brought back. `evidence` is the digest of the run.
    """

    party: Party
    first: int
    last: int
    held: int
    violated: tuple[Unmet, ...] = ()
    undecided: tuple[Unmet, ...] = ()
    losses: tuple[Loss, ...] = ()
    signed: int = 0
    restored: int = 0
    evidence: str = ""

    @property
    def sound(self) -> bool:
        """Whether something was measured and no MUST is violated or left open."""
        return self.held > 0 and not self.decisive

    @property
    def decisive(self) -> tuple[Unmet, ...]:
        """The MUSTs among the violations and what is left open."""
        return tuple(one for one in (*self.violated, *self.undecided) if one.level is Level.MUST)


class Route(msgspec.Struct, frozen=True):
    """A conversation that began with one party, went on with another `after` so many turns, and came back.

    A leg that did not come to its end is the last.
    """

    begins: Party
    goes_to: Party
    after: int
    legs: tuple[Leg, ...]

    @property
    def sound(self) -> bool:
        """Whether it went there and back, and each leg is sound."""
        return len(self.legs) == 3 and all(leg.sound for leg in self.legs)


class Handoff(msgspec.Struct, frozen=True):
    """The whole matrix. `left_out` says which adapters or paths took no part, and why."""

    turnproof: str
    scenario: str
    seed: int
    parties: tuple[Party, ...]
    routes: tuple[Route, ...]
    left_out: dict[str, str] = {}
    duration_s: float = 0.0
    schema: str = SCHEMA

    def between(self, begins: Party, goes_to: Party) -> list[Route]:
        """The routes of an ordered pair, one for each place of the change."""
        return [route for route in self.routes if route.begins == begins and route.goes_to == goes_to]

    def losses(self, begins: Party, goes_to: Party) -> Counter[Fate]:
        """What could not travel on the way there, over all places of the change."""
        return Counter(loss.fate for route in self.between(begins, goes_to) for loss in transfer_losses(route))

    @property
    def exit_code(self) -> Exit:
        """1 where a MUST is violated, 3 where one is open or nothing was measured, else 0."""
        legs = [leg for route in self.routes for leg in route.legs]
        if any(one.level is Level.MUST for leg in legs for one in leg.violated):
            return Exit.VIOLATIONS
        return Exit.OK if self.routes and all(route.sound for route in self.routes) else Exit.UNDECIDED


def transfer_losses(route: Route) -> tuple[Loss, ...]:
    """What the other party did not get of the conversation."""
    return route.legs[1].losses if len(route.legs) > 1 else ()
