"""Calls of the chat API, whoever's client makes them, and how their answers are put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from turnproof.cancel import CancelToken
from turnproof.errors import ProviderError
from turnproof.messages import ProviderResponse

from .. import _calling
from .._answers import Listeners
from .._calling import Source
from .assemble import Assembler, Reading, stands_alone, whole
from .service import Service
from .wire import Answer, Failure


class ChatCaller:
    """Makes calls for one provider of a service.

    `failures` are the exceptions of its client, `typed` says what they mean, and `told` what a failure in an answer's
    place does.
    """

    def __init__(
        self,
        service: Service,
        failures: tuple[type[Exception], ...],
        typed: Callable[[Exception], ProviderError],
        told: Callable[[Failure], ProviderError],
    ) -> None:
        self._service = service
        self._calls = _calling.Caller(failures, typed, stands_alone)
        self._told = told
        self.simple = self._calls.simple

    def whole(
        self,
        ask: Callable[[], Answer],
        restore: Callable[[str], str],
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """A call answered in one piece."""
        return self._calls.whole(ask, partial(whole, self._reading(restore)), listeners, token)

    def streamed(
        self,
        ask: Callable[[], Source[Answer]],
        restore: Callable[[str], str],
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """A call answered in pieces, told to the listeners as they arrive."""
        return self._calls.streamed(ask, Assembler(self._reading(restore), listeners), token)

    def _reading(self, restore: Callable[[str], str]) -> Reading:
        return Reading(self._service, restore, self._told)
