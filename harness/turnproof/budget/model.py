"""The words of a budget: where tokens come from, what may be taken away, and what a context holds."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Source(StrEnum):
    """Where the tokens of an entry come from."""

    SYSTEM = "system"
    PLUGIN = "plugin"
    """Tool schemas."""
    ENRICHMENT = "enrichment"
    """What was added to the conversation for the model's benefit; nobody said it."""
    CONVERSATION = "conversation"
    THINKING = "thinking"


class Policy(StrEnum):
    """What a collection may do to an entry, the weakest first."""

    EPHEMERAL = "ephemeral"
    """May go by itself: the steps on the way to an answer, once there is one."""
    PARTIAL = "partial"
    """Goes with its turn as a whole."""
    CONDITIONAL = "conditional"
    """Stays as long as anything else of its turn stays, unless that is locked: it says something about the others."""
    PRESERVABLE = "preservable"
    """Goes, with its turn, only where the context is under pressure."""
    LOCKED = "locked"
    """Never goes."""


class Entry(msgspec.Struct, frozen=True):
    """One line of a budget. `id` is a message id, or the name of a tool, or empty for the system text.

    `tokens` are by the project's ruler (`turnproof.tokens`), before they are corrected by what the provider reported.
    """

    source: Source
    policy: Policy
    tokens: int
    id: str = ""


class ContextUsage(msgspec.Struct, frozen=True):
    """How full a context is: tokens `used`, of `limit` (None where nobody knows it), by so many `turns`."""

    used: int
    limit: int | None = None
    turns: int = 0

    @property
    def share(self) -> float:
        """The part of the limit that is used, 1.0 and more where it is full; 0.0 without a limit."""
        return self.used / self.limit if self.limit else 0.0

    @property
    def percent(self) -> float:
        """The same in percent."""
        return 100 * self.share

    @property
    def remaining(self) -> int | None:
        """Tokens that are left, never below 0; None without a limit."""
        return None if self.limit is None else max(0, self.limit - self.used)


class Mark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody said about a message, beside what can be seen from the conversation."""

    source: Source = Source.CONVERSATION
    policy: Policy = Policy.EPHEMERAL


class Growth(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """By how much prompts have grown from one report to the next: as the provider said, and by the ruler."""

    reported: int = 0
    estimated: int = 0


class BudgetState(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a budget knows that does not follow from the history: enough to go on with equal figures after a load.

    `reported` and `expected` are tokens of the provider for one token of the ruler, for what it has counted already
    and for what came after that: the messages of `uncounted`, and unless `frame_counted` system text and tools.
    `last_total` is the last report, where nothing has happened since but that messages were added.
    """

    reported: float = 1.0
    expected: float = 1.0
    uncounted: tuple[str, ...] = ()
    frame_counted: bool = False
    grown: Growth = Growth()
    last_total: int | None = None
    marks: dict[str, Mark] = {}
