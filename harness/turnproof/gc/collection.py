"""One collection: what a collector is told, and the two questions that every collector of ours asks of it.

Which of the latest turns stay, and what is left when only these messages do. The rules that keep a history valid are
in the second answer alone, so that a collector decides what goes and cannot get it wrong.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ..budget import ContextUsage, InstructionBudget, is_note, note
from ..cancel import CancelToken
from ..messages import Message
from .base import GCConfig, GCResult, Reason, due
from .turns import Links, links, openings, turn_starts, whole_starts, with_needed


@dataclass(frozen=True)
class Collection:
    """A history that is to be collected, and why. Nothing here changes it."""

    history: Sequence[Message]
    usage: ContextUsage
    config: GCConfig
    reason: Reason
    budget: InstructionBudget
    token: CancelToken

    @cached_property
    def starts(self) -> list[int]:
        """Where turns begin; what is marked as enrichment begins none."""
        return turn_starts(self.history, except_for=self.budget.aside)

    @cached_property
    def openings(self) -> Sequence[int | None]:
        """For each message the index of the one that began its turn."""
        return openings(self.starts, len(self.history))

    @cached_property
    def links(self) -> Links:
        """What belongs together."""
        return links(self.history)

    @cached_property
    def pinned(self) -> frozenset[int]:
        """Indexes of the messages that somebody pinned."""
        ids = self.config.pinned
        return frozenset(n for n, message in enumerate(self.history) if ids and message.message_id in ids)

    @property
    def target(self) -> float | None:
        """Tokens that should be left at the most; None where that is not what the collection is for."""
        if self.reason in ("manual", "turn-limit") or not self.usage.limit:
            return None
        return self.config.target * self.usage.limit

    @property
    def excess(self) -> float:
        """Tokens that are to go; infinite where there is no target."""
        return float("inf") if self.target is None else self.usage.used - self.target

    def staying(self, indexes: Set[int]) -> set[int]:
        """What is left where these messages stay: with them those that are pinned, and what all of these need."""
        return with_needed(indexes | self.pinned, self.links, self.openings)

    def recent(self) -> int:
        """Index from which on the history stays: the latest turns, whole. 0 where all of it stays.

        Fewer than `keep_turns` where these alone are above the target, more where a pair would be parted.
        """
        keep, starts = self.config.keep_turns, self.starts
        cuts = whole_starts(starts[1:], self.links, len(self.history))
        first_turn = starts[-keep] if len(starts) > keep else 0
        cut = max((start for start in cuts if start <= first_turn), default=0)
        if self.target is None:
            return cut
        excess = self.excess - self.budget.weigh(self.history[:cut])
        for start in cuts:
            if start > cut and excess > 0:
                excess -= self.budget.weigh(self.history[cut:start])
                cut = start
        return cut

    def leave(self, indexes: Set[int], *, summary: str | None = None, instead: Sequence[Message] = ()) -> GCResult:
        """The history with only the messages at these indexes, and what must stay with them.

        In front stands a summary of what is gone, if there is one, and the notice, if one is configured. A notice of
        an earlier collection goes. `instead` is a shorter form of everything in front of what is kept: those of its
        messages that are in the history stay where they are, the others come right before what is kept. All stays where
        nothing else would go, or where no token would be freed.
        """
        history = self.history
        own = {id(message) for message in instead}
        places = {n for n, message in enumerate(history) if id(message) in own}
        stay = self.staying(indexes | places)
        new = [one for one in instead if all(one is not history[n] for n in places)]
        left: list[Message] = []
        removed: list[Message] = []
        for index, message in enumerate(history):
            (left if index in stay and not is_note(message, "notice") else removed).append(message)
        if all(is_note(message, "notice") for message in removed):
            return self.unchanged()
        added = [] if self.config.notice is None else [note("notice", self.config.notice, removed)]
        added += [] if summary is None else [note("summary", summary, removed)]
        freed = self.budget.weigh(removed) - self.budget.weigh([*added, *new])
        if freed <= 0:
            return self.unchanged()
        first = min(indexes, default=len(history))
        split = sum(n < first for n in stay if not is_note(history[n], "notice"))
        return GCResult(
            messages=(*added, *left[:split], *new, *left[split:]),
            reason=self.reason,
            removed_ids=tuple(message.message_id for message in removed),
            added=(*added, *new),
            tokens_freed=max(1, round(freed)),
            before=len(history),
            after=len(added) + len(new) + len(left),
        )

    def unchanged(self, error: str | None = None) -> GCResult:
        """The history as it is: there was nothing to do, or it could not be done for the reason given."""
        count = len(self.history)
        return GCResult(messages=tuple(self.history), reason=self.reason, before=count, after=count, error=error)


class BaseCollector(ABC):
    """A collector of your own: say what stays, in `work`."""

    @abstractmethod
    def work(self, collection: Collection) -> GCResult:
        """Decide what stays: `collection.leave(...)`, or `collection.unchanged()`."""

    def should_collect(self, usage: ContextUsage, config: GCConfig) -> Reason | None:
        """Why a conversation that fills its context so far should be collected now; None if it should not."""
        return due(usage, config)

    def collect(
        self,
        history: Sequence[Message],
        *,
        usage: ContextUsage | None = None,
        config: GCConfig | None = None,
        reason: Reason = "manual",
        budget: InstructionBudget | None = None,
        token: CancelToken | None = None,
    ) -> GCResult:
        """The history without what may go; see `Collector`."""
        config = config or GCConfig()
        if budget is None:
            budget = InstructionBudget(config.context_limit)
            budget.sync(history)
        usage = usage or budget.get_context_usage()
        return self.work(Collection(history, usage, config, reason, budget, token or CancelToken()))
