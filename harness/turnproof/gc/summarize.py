"""Collectors that have what they take away summarized first: `SummarizeGC`, and `HybridGC` for the most recent of it.

A collection without its summary would lose what it promises to keep. So it either has one or does not take place:
whatever the summarizer raises or returns, the history is whole.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..budget import is_note
from ..errors import Cancelled, UsageError
from .base import GCResult
from .collection import BaseCollector, Collection
from .summarizer import Summarizer

HEADING = "Summary of the conversation so far:\n\n"
"""What stands before a summary's text in the history: the model takes it for the user's words otherwise."""

_log = logging.getLogger(__name__)


class SummarizeGC(BaseCollector):
    """Keeps the latest turns, and one message that sums up everything before them.

    An earlier summary is summed up again with the rest. Without a summarizer every collection fails.
    """

    def __init__(self, summarizer: Summarizer | None) -> None:
        self._summarizer = summarizer

    def work(self, collection: Collection) -> GCResult:
        """The latest turns behind a summary."""
        cut = collection.recent()
        return _summed_up(collection, self._summarizer, cut, range(cut))


class HybridGC(BaseCollector):
    """Keeps the latest turns, sums up the `middle_turns` before them, and drops what is older still.

    An earlier summary is always summed up again, so that what is ancient fades instead of breaking off.
    """

    def __init__(self, summarizer: Summarizer | None, *, middle_turns: int = 10) -> None:
        if middle_turns < 1:
            raise UsageError(f"at least one turn is summed up, got {middle_turns!r}: to drop all, use TruncateGC")
        self._summarizer = summarizer
        self._middle_turns = middle_turns

    def work(self, collection: Collection) -> GCResult:
        """The latest turns behind a summary of those before them."""
        cut = collection.recent()
        older = [start for start in collection.starts if start < cut]
        ancient = older[-self._middle_turns] if len(older) > self._middle_turns else 0
        summaries = [n for n in range(ancient) if is_note(collection.history[n], "summary")]
        return _summed_up(collection, self._summarizer, cut, [*summaries, *range(ancient, cut)])


def _summed_up(collection: Collection, summarizer: Summarizer | None, cut: int, indexes: Iterable[int]) -> GCResult:
    """What stands from `cut` on, behind a summary of what goes of the messages at `indexes`."""
    history, remaining = collection.history, set(range(cut, len(collection.history)))
    stay = collection.staying(remaining)
    about = [history[n] for n in indexes if n not in stay and not is_note(history[n], "notice")]
    if all(is_note(message) for message in about):
        return collection.unchanged()
    if summarizer is None:
        return collection.unchanged("there is no summarizer")
    try:
        collection.token.raise_if_cancelled()
        text = summarizer(about, collection.token)
        collection.token.raise_if_cancelled()
    except Cancelled as error:
        return collection.unchanged(str(error))
    except Exception as error:
        _log.debug("the summarizer failed", exc_info=True)
        return collection.unchanged(f"the summarizer failed: {type(error).__name__}: {error}")
    if not isinstance(text, str) or not text.strip():
        return collection.unchanged("the summarizer returned no text")
    result = collection.leave(remaining, summary=HEADING + text.strip())
    return result if result.changed else collection.unchanged("the summary is no shorter than what it stands for")
