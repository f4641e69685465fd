"""One call, from its first byte to its answer: what both paths do alike around a request of their own making.

A call that is cancelled before its request was written raises `Cancelled`. One that is cancelled later gives a response
with what had arrived, whatever the network or the service makes of being hung up on; an answer that is complete only
after the cancel counts as cancelled too. Failures are raised outside any handler: the SDK's exceptions hold the request
and with it the key, so none of them stays attached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import anthropic
import httpx2

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError, TransportError
from turnproof.messages import FinishReason, ProviderResponse

from . import errors
from .assemble import Assembler, Listeners, stopped, whole
from .cut import Cut
from .parts import Restore
from .wire import Answer, Event

T = TypeVar("T")

_FAILURES = (
    ProviderError,
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    ValueError,  # a frame or a body that is not JSON, from our decoder or the SDK's
)

_AFTERWORDS = 8
"""Events tolerated behind the end marker, where a keep-alive may slip in; after more of them the caller hangs up."""


@dataclass(frozen=True, slots=True)
class Source:
    """An open stream: its events as they arrive, and how to hang up."""

    events: Iterator[Event]
    close: Callable[[], None]


class Caller:
    """Makes calls for one provider. `secret` is the key, which no error may show."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def whole(
        self, ask: Callable[[], Answer], restore: Restore, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in one piece."""
        token, cut = token or CancelToken(), Cut()
        token.raise_if_cancelled()
        unregister = token.on_cancel(cut.fire)
        try:
            with cut.in_force():
                answer = self._attempt(ask)
        finally:
            unregister()
        if token.is_cancelled:
            if isinstance(answer, ProviderError):
                return _nothing_arrived(cut)
            return stopped(whole(answer, restore, Listeners()))
        if isinstance(answer, ProviderError):
            raise answer
        return whole(answer, restore, listeners)

    def streamed(
        self, ask: Callable[[], Source], restore: Restore, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in pieces, told to the listeners as they arrive."""
        token, cut, assembler = token or CancelToken(), Cut(), Assembler(restore, listeners)
        token.raise_if_cancelled()
        unregister = token.on_cancel(cut.fire)
        try:
            with cut.in_force():
                source = self._attempt(ask)
                if not isinstance(source, ProviderError):
                    with closing(source):
                        failure = self._read(source, assembler, token, cut)
        finally:
            unregister()
        if token.is_cancelled:
            return _nothing_arrived(cut) if isinstance(source, ProviderError) else assembler.cancelled()
        if isinstance(source, ProviderError):
            raise source
        response = self._attempt(assembler.response) if failure is None else failure
        if isinstance(response, ProviderError):
            response.partial = assembler.cancelled().parts
            raise response
        return response

    def simple(self, ask: Callable[[], T]) -> T:
        """Any other request, with its failures typed."""
        value = self._attempt(ask)
        if isinstance(value, ProviderError):
            raise value
        return value

    def _read(self, source: Source, assembler: Assembler, token: CancelToken, cut: Cut) -> ProviderError | None:
        """Take events until the stream ends, fails, or is cancelled. What a callback raises is not caught here."""
        step = partial(next, source.events, None)
        while not token.is_cancelled and not assembler.complete:
            event = self._attempt(step)
            if event is None:
                return TransportError("the stream ended before its end marker")
            if isinstance(event, ProviderError):
                return event
            assembler.feed(event)
            if assembler.failure is not None:
                return errors.from_stream(assembler.failure, self._secret)
        if assembler.complete:
            # Behind the end marker there is only the end of the body, read for the connection's sake.
            cut.be_brief()
            for _ in range(_AFTERWORDS):
                if not isinstance(self._attempt(step), Event):
                    break
        return None

    def _attempt(self, step: Callable[[], T]) -> T | ProviderError:
        try:
            return step()
        except _FAILURES as error:
            return errors.from_exception(error, self._secret)


def _nothing_arrived(cut: Cut) -> ProviderResponse:
    if not cut.written:
        raise Cancelled("the turn was cancelled before its request was written")
    return ProviderResponse(finish_reason=FinishReason.CANCELLED)
