"""How this API's calls fail and how their answers are put together; `_calling` does the rest."""

from __future__ import annotations

from turnproof.messages import ProviderResponse

from .._answer_items import ItemsCaller, Restore
from .._answers import Listeners
from .assemble import Assembler, read_answer
from .errors import FAILURES
from .wire import Event, Failure, Interaction


class Caller(ItemsCaller[Interaction, Event, Failure]):
    """Calls through the official SDK."""

    failures = FAILURES

    def _read(self, restore: Restore, answer: Interaction, listeners: Listeners) -> ProviderResponse:
        return read_answer(restore, self._failed, answer, listeners)

    def _assembler(self, restore: Restore, listeners: Listeners) -> Assembler:
        return Assembler(restore, listeners, self._failed)
