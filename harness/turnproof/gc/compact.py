"""`CompactGC`: the provider's service makes the conversation shorter.

A provider that offers it is a `turnproof.compaction.CompactingProvider`. As with a summary, a collection either has the
service's item or does not take place.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from ..budget import is_note, note
from ..compaction import CompactingProvider
from ..errors import Cancelled, NoCompactionError, UsageError
from ..messages import Message
from .base import GCResult
from .collection import BaseCollector, Collection

_log = logging.getLogger(__name__)


class CompactGC(BaseCollector):
    """Keeps the latest turns, and what the session's own service makes of everything before them.

    That is what the user said, and one item that nobody but the service can read: after a swap to another service what
    is in it is lost. With `within_answers` the service does it by itself as well, in an answer whose prompt has more
    tokens than that. What such an answer stands for is then removed.

    A session gives it each of its providers. NoCompactionError is raised for one whose service cannot.
    """

    def __init__(self, *, within_answers: int | None = None) -> None:
        if within_answers is not None and within_answers < 1:
            raise UsageError(f"within_answers is a number of tokens, got {within_answers!r}; None for never")
        self._within_answers = within_answers

    def for_provider(self, provider: object) -> BaseCollector:
        """The collector for this provider's conversation. Raises NoCompactionError where its service has none."""
        if not isinstance(provider, CompactingProvider):
            raise NoCompactionError(
                f"{type(provider).__name__} has no compact(): its service does not make conversations shorter. Take "
                "SummarizeGC or TruncateGC, or a provider that is a turnproof.compaction.CompactingProvider"
            )
        provider.set_compact_threshold(self._within_answers)
        return _ByService(provider)

    def work(self, collection: Collection) -> GCResult:
        """No collection: there is no provider to ask."""
        return collection.unchanged("no provider was given: a session gives its own, others call for_provider()")


class _ByService(BaseCollector):
    """The same for one provider."""

    def __init__(self, provider: CompactingProvider) -> None:
        self._provider = provider

    def was_compacted(self, history: Sequence[Message]) -> bool:
        """Whether there is something in front of the turn in which the service made the conversation shorter."""
        place = self._within(history)
        return place is not None and any(message.role == "model" for message in history[:place])

    def work(self, collection: Collection) -> GCResult:
        """The latest turns behind what the service made of those before them."""
        history = collection.history
        place = self._within(history)
        if place is not None and self.was_compacted(history):
            begin = collection.openings[place]
            return collection.leave(set(range(place if begin is None else begin, len(history))))
        cut = collection.recent()
        if all(message.role == "user" or self._is_item(message) for message in history[:cut]):
            return collection.unchanged()
        try:
            compacted_messages = self._provider.compact(history[:cut], cancel_token=collection.token)
        except Cancelled as error:
            return collection.unchanged(str(error))
        except Exception as error:
            _log.debug("the service's compaction failed", exc_info=True)
            return collection.unchanged(f"the service's compaction failed: {type(error).__name__}: {error}")
        if not any(map(self._is_item, compacted_messages)):
            return collection.unchanged("the service returned no compaction")
        removed = history[:cut]
        compacted_messages = [
            note("compaction", one.parts, removed) if self._is_item(one) else one for one in compacted_messages
        ]
        result = collection.leave(set(range(cut, len(history))), instead=compacted_messages)
        return result if result.changed else collection.unchanged("the service made it no shorter")

    def _is_item(self, message: Message) -> bool:
        return any(map(self._provider.is_compaction, message.parts))

    def _within(self, history: Sequence[Message]) -> int | None:
        """The latest answer in which the service made the conversation shorter; None where a collection did since."""
        for place in range(len(history) - 1, -1, -1):
            if self._is_item(history[place]):
                return None if is_note(history[place]) else place
        return None
