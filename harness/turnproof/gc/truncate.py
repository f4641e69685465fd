"""`TruncateGC`: forget the oldest turns."""

from __future__ import annotations

from .base import GCResult
from .collection import BaseCollector, Collection


class TruncateGC(BaseCollector):
    """Keeps the latest turns whole and drops everything before them.

    What is left begins with a user message that has text. More turns than are kept stay where a result in a kept turn
    answers a call in an earlier one.
    """

    def work(self, collection: Collection) -> GCResult:
        """The history from the first kept turn on; all of it where there are no more turns than are kept."""
        cut = collection.recent()
        if not cut:
            return collection.unchanged()
        return collection.leave(set(range(cut, len(collection.history))))
