"""`TruncateGC`: forget the oldest turns."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import UsageError
from ..messages import Message, TokenUsage
from .base import GCResult
from .turns import splits_a_pair, turn_starts


class TruncateGC:
    """Keeps the last `keep_turns` turns whole and drops everything before them.

    What is left begins with a user message that has text. More than `keep_turns` turns stay where a result in a
    kept turn answers a call in an earlier one. `threshold` is the share of the context limit from which on
    `should_collect` says yes.
    """

    def __init__(self, keep_turns: int, *, threshold: float = 0.8) -> None:
        _check_keep_turns(keep_turns)
        if not 0 < threshold <= 1:
            raise UsageError(f"threshold is a share of the context limit above 0 and up to 1, got {threshold!r}")
        self.keep_turns = keep_turns
        self.threshold = threshold

    def should_collect(self, usage: TokenUsage, limit: int) -> bool:
        """Whether the last call's prompt and output fill `threshold` of `limit` tokens."""
        return limit > 0 and usage.total_tokens >= self.threshold * limit

    def collect(self, history: Sequence[Message], *, keep_turns: int | None = None) -> GCResult:
        """The history from the first kept turn on; all of it where there are no more turns than are kept."""
        keep = self.keep_turns if keep_turns is None else keep_turns
        _check_keep_turns(keep)
        cut = _cut(history, keep)
        return GCResult(
            messages=tuple(history[cut:]),
            removed_ids=tuple(message.message_id for message in history[:cut]),
            before=len(history),
            after=len(history) - cut,
        )


def _cut(history: Sequence[Message], keep: int) -> int:
    starts = turn_starts(history)
    for start in reversed(starts[1 : max(1, len(starts) - keep + 1)]):
        if not splits_a_pair(history, start):
            return start
    return 0


def _check_keep_turns(keep_turns: int) -> None:
    if keep_turns < 1:
        raise UsageError(f"at least one turn is kept, got keep_turns={keep_turns!r}: to forget all, clear the session")
