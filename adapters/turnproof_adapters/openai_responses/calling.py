"""How this API's calls fail and how their answers are put together; `_calling` does the rest."""

from __future__ import annotations

from turnproof.messages import ProviderResponse

from .. import _calling
from .._answer_items import Restore
from .._answers import Listeners, stands_alone
from .._calling import ConversationCaller
from ..openai.calling import FAILURES, Typing
from .assemble import Assembler, read_answer
from .wire import Answer, Event


class Caller(ConversationCaller[Answer, Event, Restore]):
    """Makes calls for one provider. `typing` says what its failures mean."""

    def __init__(self, typing: Typing) -> None:
        super().__init__(_calling.Caller(FAILURES, typing.exception, stands_alone))
        self._failed = typing.failure

    def _read(self, restore: Restore, answer: Answer, listeners: Listeners) -> ProviderResponse:
        return read_answer(restore, self._failed, answer, listeners)

    def _assembler(self, restore: Restore, listeners: Listeners) -> Assembler:
        return Assembler(restore, listeners, self._failed)
