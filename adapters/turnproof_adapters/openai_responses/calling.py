"""How this API's calls fail and how their answers are put together; `_calling` does the rest."""

from __future__ import annotations

from turnproof.messages import ProviderResponse

from .._answer_items import ItemsCaller, Restore
from .._answers import Listeners
from ..openai.calling import FAILURES
from ..openai.wire import Failure
from .assemble import Assembler, read_answer
from .wire import Answer, Event


class Caller(ItemsCaller[Answer, Event, Failure]):
    """Calls through the official SDK."""

    failures = FAILURES

    def _read(self, restore: Restore, answer: Answer, listeners: Listeners) -> ProviderResponse:
        return read_answer(restore, self._failed, answer, listeners)

    def _assembler(self, restore: Restore, listeners: Listeners) -> Assembler:
        return Assembler(restore, listeners, self._failed)
