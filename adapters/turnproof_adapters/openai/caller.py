"""Calls of the chat API, whoever's client makes them, and how their answers are put together."""

from __future__ import annotations

from collections.abc import Callable

from turnproof.errors import ProviderError
from turnproof.messages import ProviderResponse

from .. import _calling
from .._answers import Listeners
from .._calling import ConversationCaller
from .assemble import Assembler, Reading, read_answer, stands_alone
from .service import Service
from .wire import Answer, Failure


class ChatCaller(ConversationCaller[Answer, Answer, Callable[[str], str]]):
    """Makes calls for one provider of a service.

    `failures` are the exceptions of its client, `typed` says what they mean, and `failed` what a failure in an answer's
    place does.
    """

    def __init__(
        self,
        service: Service,
        failures: tuple[type[Exception], ...],
        typed: Callable[[Exception], ProviderError],
        failed: Callable[[Failure], ProviderError],
    ) -> None:
        super().__init__(_calling.Caller(failures, typed, stands_alone))
        self._service = service
        self._failed = failed

    def _read(self, restore: Callable[[str], str], answer: Answer, listeners: Listeners) -> ProviderResponse:
        return read_answer(self._reading(restore), answer, listeners)

    def _assembler(self, restore: Callable[[str], str], listeners: Listeners) -> Assembler:
        return Assembler(self._reading(restore), listeners)

    def _reading(self, restore: Callable[[str], str]) -> Reading:
        return Reading(self._service, restore, self._failed)
