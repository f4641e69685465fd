"""One call, from its first byte to its answer: what every adapter does alike around a request of its own making.

A call that is cancelled before its request was written raises `Cancelled`. One that is cancelled later gives a response
with what had arrived, whatever the network or the service makes of being hung up on; an answer that is complete only
after the cancel counts as cancelled too. Failures are raised outside any handler: an SDK's exceptions hold the request
and with it the key, so none of them stays attached.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError, TransportError
from turnproof.messages import FinishReason, Message, Part, ProviderResponse, ToolSchema
from turnproof.provider import SystemInstruction

from ._answers import Listeners, cancelled_response
from ._interrupt import Cut

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R")
E_contra = TypeVar("E_contra", contravariant=True)

_AFTERWORDS = 8
"""Events tolerated behind the end of an answer, where a keep-alive may slip in; after more the caller hangs up."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a call sends to the model, before it is converted for a service."""

    messages: Sequence[Message]
    system: SystemInstruction = None
    tools: Sequence[ToolSchema] | None = None
    response_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Source(Generic[E]):
    """An open stream: its events as they arrive, and how to hang up."""

    events: Iterator[E]
    close: Callable[[], None]


class Assembling(Protocol[E_contra]):
    """A stream's events on the way to becoming an answer. It tells the caller's callbacks itself."""

    @property
    def complete(self) -> bool:
        """Whether the answer has come to its end, without which no stream is whole."""

    @property
    def failure(self) -> ProviderError | None:
        """What an event told of a failure, if one did."""

    def feed(self, event: E_contra) -> None:
        """Take one event; what a callback raises passes through."""

    def response(self) -> ProviderResponse:
        """The finished answer. Raises ProviderError for one that cannot be used."""

    def cancelled(self) -> ProviderResponse:
        """What had arrived, as far as it stands alone, with `finish_reason=cancelled`."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes calls for one provider.

    `failures` are the exceptions of its SDK and network; `typed` says what they mean; `stands_alone` which parts make
    sense in a history without what would have followed them.
    """

    failures: tuple[type[Exception], ...]
    typed: Callable[[Exception], ProviderError]
    stands_alone: Callable[[Part], bool]

    def call_batch(
        self,
        ask: Callable[[], T],
        read: Callable[[T, Listeners], ProviderResponse],
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """A call answered in one piece. `read` makes a response of the answer and tells the listeners of it."""
        token = token or CancelToken()
        with _cut_by(token) as cut:
            answer = self._attempt(ask)
        if token.is_cancelled:
            if not isinstance(answer, ProviderError):
                response = self._attempt(partial(read, answer, Listeners()))
                if not isinstance(response, ProviderError):
                    return self._stopped(response)
            return _nothing_arrived(cut)
        if isinstance(answer, ProviderError):
            raise answer
        return read(answer, listeners)

    def call_stream(
        self, ask: Callable[[], Source[E]], assembler: Assembling[E], token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in pieces, told to the assembler's listeners as they arrive."""
        token = token or CancelToken()
        with _cut_by(token) as cut:
            source = self._attempt(ask)
            if not isinstance(source, ProviderError):
                with closing(source):
                    failure = self._read(source, assembler, token, cut)
        if token.is_cancelled:
            return _nothing_arrived(cut) if isinstance(source, ProviderError) else assembler.cancelled()
        if isinstance(source, ProviderError):
            raise source
        response = self._attempt(assembler.response) if failure is None else failure
        if isinstance(response, ProviderError):
            response.partial = assembler.cancelled().parts
            raise response
        return response

    def simple(self, ask: Callable[[], T], token: CancelToken | None = None) -> T:
        """Any other request, with its failures typed. Raises Cancelled as soon as the token is set while it waits."""
        with nullcontext() if token is None else _cut_by(token):
            value = self._attempt(ask)
        if isinstance(value, ProviderError):
            if token is not None and token.is_cancelled:
                raise Cancelled("the turn was cancelled while a request of its preparation was open")
            raise value
        return value

    def _read(self, source: Source[E], assembler: Assembling[E], token: CancelToken, cut: Cut) -> ProviderError | None:
        """Take events until the stream ends, fails, or is cancelled. What a callback raises is not caught here."""
        if token.is_cancelled:
            return None
        events, feed = self._events_or_failure(source.events), assembler.feed
        for event in events:
            if isinstance(event, ProviderError):
                return event
            feed(event)
            if assembler.failure is not None:
                return assembler.failure
            if assembler.complete:
                break
            if cut.fired:
                return None
        else:
            return TransportError("the stream ended before its end marker")
        # Behind the end there is only the end of the body, read for the connection's sake.
        cut.be_brief()
        for event in islice(events, _AFTERWORDS):
            if isinstance(event, ProviderError):
                break
            feed(event)
        return None

    def _events_or_failure(self, events: Iterator[E]) -> Iterator[E | ProviderError]:
        """The events, and behind them the failure that the stream ended in, if it did. What the taker of an event
        raises is none of it: it does not pass through here."""
        try:
            yield from events
        except ProviderError as error:
            yield error
        except self.failures as error:
            yield self.typed(error)

    def is_connection_lost(self, error: Exception) -> bool:
        """Whether this error means that the connection broke, and not that the service refused or failed a request."""
        typed = self.typed(error) if isinstance(error, self.failures) else error
        return isinstance(typed, TransportError)

    def _stopped(self, response: ProviderResponse) -> ProviderResponse:
        """A complete answer that came after the turn was cancelled: what of it may be kept."""
        return cancelled_response(filter(self.stands_alone, response.parts), response.usage, response.model)

    def _attempt(self, step: Callable[[], T]) -> T | ProviderError:
        try:
            return step()
        except ProviderError as error:
            return error
        except self.failures as error:
            return self.typed(error)


class ConversationCaller(ABC, Generic[T, E, R]):
    """Makes the calls of one API for one provider: an answer in one piece is a `T`, a piece of a stream an `E`. An `R`
    brings tool calls back into the caller's terms."""

    def __init__(self, calls: Caller) -> None:
        self._calls = calls
        self.simple = calls.simple
        self.is_connection_lost = calls.is_connection_lost

    @abstractmethod
    def _read(self, restore: R, answer: T, listeners: Listeners) -> ProviderResponse:
        """The response that an answer in one piece is; tells the listeners of it."""

    @abstractmethod
    def _assembler(self, restore: R, listeners: Listeners) -> Assembling[E]:
        """What makes a response of a stream, and tells the listeners as it arrives."""

    def call(
        self,
        ask: Callable[[], T],
        open_stream: Callable[[], Source[E]],
        restore: R,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """The answer of a call: streamed if `listeners.on_chunk` is there, in one piece if it is not."""
        if listeners.on_chunk is None:
            return self._calls.call_batch(ask, partial(self._read, restore), listeners, token)
        return self._calls.call_stream(open_stream, self._assembler(restore, listeners), token)

    def call_whole(
        self, ask: Callable[[], T], restore: R, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """The answer of a call in one piece, which is shown to who listens for pieces as one."""

        def read(answer: T, listeners: Listeners) -> ProviderResponse:
            response = self._read(restore, answer, listeners)
            if listeners.on_chunk is not None and response.text:
                listeners.on_chunk(response.text)
            return response

        return self._calls.call_batch(ask, read, listeners, token)


@contextmanager
def _cut_by(token: CancelToken) -> Iterator[Cut]:
    """A cut that the token fires, in force for all that the block does on the network.

    Raises Cancelled for a token that is set already.
    """
    token.raise_if_cancelled()
    cut = Cut()
    unregister = token.on_cancel(cut.fire)
    try:
        with cut.in_force():
            yield cut
    finally:
        unregister()


def _nothing_arrived(cut: Cut) -> ProviderResponse:
    if not cut.written:
        raise Cancelled("the turn was cancelled before its request was written")
    return ProviderResponse(finish_reason=FinishReason.CANCELLED)
