"""What a comparison of two runs says: where they differ, under which name, and what is only noise."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, UnsetType

from ...messages import JSON
from ...run.transcript import RunKey

Aspect: TypeAlias = Literal["wire", "answers", "callbacks", "history", "usage", "errors", "requests", "outcome"]
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)
"""What is looked at, in the order in which it is shown.

`wire` is every request for an answer with its response; `answers` what the calls returned; `callbacks` what was called
back meanwhile; `history` the conversation as it was held after each operation; `usage` the figures returned; `errors`
what was raised; `requests` how many of which kind each turn sent; `outcome` how each turn ended for its user.
"""


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where in a conversation, the same for both sides.

    `turn` is the index of the scenario's turn, -1 outside all of them. `round` counts the tool-result rounds of the
    turn and is absent where a whole turn is meant; `attempt` counts repeated calls of a round, `request` the requests
    of a call. `after` names the operation that a history was read after (`turn`, `gc`, `save-load`, ...).
    """

    turn: int
    round: int | None = None
    attempt: int = 0
    request: int = 0
    after: str = ""

    def __str__(self) -> str:
        words = [f"turn {self.turn}" if self.turn >= 0 else "outside the turns"]
        if self.round is not None:
            words[0] += f" round {self.round}"
        if self.attempt:
            words.append(f"attempt {self.attempt + 1}")
        if self.request:
            words.append(f"request {self.request + 1}")
        if self.after:
            words.append(f"after {self.after}")
        return ", ".join(words)


class Found(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One difference. `name` is its kind's (see `KINDS`); `left` or `right` is left out where that side has nothing.

    `form` says that both sides mean the same and only write it differently. `also` are further places where the very
    same difference was found: a conversation carries on what it has once said.
    """

    aspect: Aspect
    name: str
    place: Place
    path: str
    left: Any | UnsetType = UNSET
    right: Any | UnsetType = UNSET
    form: bool = False
    also: tuple[Place, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place where it was found."""
        return (self.place, *self.also)


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two runs. `label` is what reports call it; `digest` names its evidence, where there is some."""

    label: str
    adapter: str
    key: RunKey
    digest: str = ""


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs of one scenario, side by side.

    `differences` are in the order of `ASPECTS` and places. `noise` are the places (`aspect place path`) where the right
    side differs from a second run of itself; nothing there counts as a difference. `compared` counts what was looked
    at, by aspect. `problem` says why nothing could be compared; the rest is then empty. `cut` says from where on
    nothing was compared because only one of the sides can go on there.
    """

    scenario: str
    mode: Literal["stream", "batch"]
    left: Side
    right: Side
    differences: tuple[Found, ...] = ()
    noise: tuple[str, ...] = ()
    compared: dict[Aspect, int] = {}
    problem: str = ""
    cut: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The names of all differences found."""
        return frozenset(found.name for found in self.differences)

    @property
    def equal(self) -> bool:
        """Whether both sides were compared and did the same."""
        return not self.problem and not self.differences

    def at(self, place: str) -> frozenset[str]:
        """The names of what differs at a call (`2/1#0`) or in a turn (`2`)."""
        turn, _, call = place.partition("/")
        return frozenset(
            found.name
            for found in self.differences
            for where in found.places
            if str(where.turn) == turn and (not call or where.round is None or f"{where.round}#{where.attempt}" == call)
        )


def value_or_unset(value: object, absent: object) -> JSON:
    """A side of a difference as a field holds it."""
    return UNSET if value is absent else value
