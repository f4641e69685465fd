"""What every collector of history promises, what it is told, and what it hands back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from ..budget import ContextUsage, InstructionBudget
from ..cancel import CancelToken
from ..errors import UsageError
from ..messages import Message

Reason: TypeAlias = Literal["threshold", "turn-limit", "continuous", "manual", "overflow", "compacted"]
"""Why a history is collected. `overflow`: the provider has refused it as too long; `compacted`: its service has made
the conversation shorter by itself, within an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GCConfig:
    """When a session collects, and how far.

    context_limit: the model's window in tokens; None asks the provider.
    threshold:  the share of the limit from which on a collection is due.
    target:     the share that is left at the most, so that the next collection is a while off. What may not go can
                stand in its way.
    keep_turns: how many of the latest turns stay as they are. A collector of whole turns leaves fewer, down to one,
                where these alone are above the target and nobody asked for the collection.
    max_turns:  a collection is due above so many turns; None for any number.
    continuous: a collection is due after every turn that leaves more than the target.
    auto:       whether a collection is ever due by itself; otherwise it comes by hand, and when a prompt is refused.
    pressure:   the share of the limit from which on also that goes which is worth preserving.
    pinned:     ids of messages that stay, with all that they need.
    notice:     what the model is told in place of what went; None tells it nothing.
    """

    context_limit: int | None = None
    threshold: float = 0.8
    target: float = 0.5
    keep_turns: int = 5
    max_turns: int | None = None
    continuous: bool = False
    auto: bool = True
    pressure: float = 0.9
    pinned: frozenset[str] = frozenset()
    notice: str | None = None

    def __post_init__(self) -> None:
        if self.keep_turns < 1:
            raise UsageError(
                f"at least one turn is kept, got keep_turns={self.keep_turns!r}: to forget all, clear the session"
            )
        if not 0 < self.target < self.threshold <= 1:
            raise UsageError(
                "target and threshold are shares of the context limit, 0 < target < threshold <= 1: "
                f"got target={self.target!r}, threshold={self.threshold!r}"
            )
        if not 0 < self.pressure <= 1:
            raise UsageError(f"pressure is a share of the context limit above 0 and up to 1, got {self.pressure!r}")
        if self.context_limit is not None and self.context_limit < 1:
            raise UsageError(f"context_limit is a number of tokens, got {self.context_limit!r}; None asks the provider")
        if self.max_turns is not None and self.max_turns < self.keep_turns:
            raise UsageError(
                f"no collection leaves fewer turns than it keeps: max_turns={self.max_turns!r} is below "
                f"keep_turns={self.keep_turns!r}"
            )
        if isinstance(self.pinned, str):
            raise UsageError(f"pinned is a set of message ids, got the text {self.pinned!r}")
        if self.notice is not None and not self.notice.strip():
            raise UsageError("a notice says something: got blank text; None for no notice")


class GCResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a history. If something went wrong, `error` says what, and nothing was changed.

    messages:    the history now. Messages that stayed are the same objects, in the same order.
    removed_ids: exactly those that are gone, in their order.
    added:       notes that stand for what is gone.
    cut_ids:     messages that stay, with less in them, under their ids.
    tokens_freed: by the budget, what was added deducted. Above 0 exactly if something is gone or was cut.
    before, after: numbers of messages.
    """

    messages: tuple[Message, ...]
    reason: Reason = "manual"
    removed_ids: tuple[str, ...] = ()
    added: tuple[Message, ...] = ()
    cut_ids: tuple[str, ...] = ()
    tokens_freed: int = 0
    before: int
    after: int
    error: str | None = None

    @property
    def success(self) -> bool:
        """Whether nothing went wrong. A history that needed no change is a success too."""
        return self.error is None

    @property
    def changed(self) -> bool:
        """Whether the history is another one than before."""
        return bool(self.removed_ids or self.cut_ids)


class Collector(Protocol):
    """Makes a history shorter without making it invalid; the history it is given stays as it is.

    Calls keep their results, the first message is a user's with text, the last one stays the last, ids do not change.
    """

    def should_collect(self, usage: ContextUsage, config: GCConfig) -> Reason | None:
        """Why a conversation that fills its context so far should be collected now; None if it should not."""

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
        """The history without what may go.

        `usage` is the context's, `budget` says what each message weighs and may be done to it; left out, they are
        estimated from the history. A collector that takes its time gives up when the token is set.
        """


@runtime_checkable
class FollowsProvider(Protocol):
    """A collector that needs the session's provider."""

    def for_provider(self, provider: object) -> Collector:
        """The collector for the conversation of this provider. Raises UsageError where it cannot work with it."""


@runtime_checkable
class FollowsHistory(Protocol):
    """A collector that sees in the history itself that a collection is due."""

    def was_compacted(self, history: Sequence[Message]) -> bool:
        """Whether the service has made the conversation shorter, and what it stands for is still there."""


def due(usage: ContextUsage, config: GCConfig) -> Reason | None:
    """Why a collection is due by the numbers alone: what `should_collect` of every collector here says."""
    if not config.auto:
        return None
    if usage.limit and usage.share >= config.threshold:
        return "threshold"
    if config.max_turns is not None and usage.turns > config.max_turns:
        return "turn-limit"
    if config.continuous and (usage.share > config.target if usage.limit else usage.turns > config.keep_turns):
        return "continuous"
    return None
