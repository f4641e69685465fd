"""Calls that the service answers in the background: send the request, wait, resume an answer, cancel it.

If the caller listens for pieces, the answer is streamed; else it is polled. A stream that breaks is resumed behind its
last event (`_resumed_stream`). A call that is cancelled cancels the answer at the service. A call that fails leaves it
running, so that a later call can resume it by its id.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Generic, Literal, TypeAlias, TypeVar

from turnproof.background_answers import BackgroundCall, RunningAnswer
from turnproof.cancel import CancelToken
from turnproof.errors import AnswerLostError, Cancelled, ProviderError
from turnproof.messages import FinishReason, ProviderResponse
from turnproof.provider import ProviderBase

from ._answers import Listeners
from ._calling import ConversationCaller, Source
from ._resumed_stream import Position, ResumedStream

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R")

State: TypeAlias = Literal["running", "over", "cancelled"]
"""What a service does with an answer: it works on it, has it (or its failure), or was told to cancel it."""

_log = logging.getLogger(__name__)

_CURRENT: ContextVar[tuple[object, BackgroundCall] | None] = ContextVar("turnproof_background_call", default=None)
"""The provider whose call is made in the background here, and the call."""


class BackgroundCalls(ProviderBase, Generic[T, E, R]):
    """The half of a provider that is a `turnproof.background_answers.BackgroundProvider`.

    A subclass sends `background` in its requests if `_is_in_background`, and makes its calls with `_request_answer`. An
    answer in one piece is a `T`, an event of a stream an `E`, as for its `ConversationCaller`.
    """

    _caller: ConversationCaller[T, E, R]

    @contextmanager
    def in_background(self, call: BackgroundCall) -> Iterator[None]:
        """Within this context, a call that the same thread makes is answered in the background."""
        before = _CURRENT.set((self, call))
        try:
            yield
        finally:
            _CURRENT.reset(before)

    def cancel_answer(self, answer: RunningAnswer) -> None:
        """Have the service cancel an answer. One that is complete, or that it does not have, is left alone."""
        self._caller.simple(partial(self._cancel_stored, answer.id))

    # What a subclass has of its API; all raise what the SDK raises

    @abstractmethod
    def _retrieve(self, name: str) -> T:
        """The answer as the service has it now."""

    @abstractmethod
    def _follow(self, name: str, last: Position | None = None) -> Source[E]:
        """The stream of an answer from its beginning, or behind the event with this position."""

    @abstractmethod
    def _position(self, event: E) -> Position | None:
        """The position of an event in its stream, by which the stream can be resumed; None if it has none."""

    @abstractmethod
    def _cancel_stored(self, name: str) -> None:
        """Have an answer cancelled. One that is over, or that the service does not have, is none to cancel."""

    @abstractmethod
    def _is_unknown(self, error: Exception) -> bool:
        """Whether a request failed because the service has no answer of that id."""

    @abstractmethod
    def _name_of(self, answer: T) -> str | None:
        """The id of an answer."""

    @abstractmethod
    def _state_of(self, answer: T) -> State:
        """What the service does with an answer."""

    @abstractmethod
    def _progress(self, event: E) -> tuple[str | None, bool]:
        """The id that an event of a stream has, if it has one, and whether the answer ends with it."""

    # What a subclass calls

    @property
    def _background_call(self) -> BackgroundCall | None:
        current = _CURRENT.get()
        return current[1] if current is not None and current[0] is self else None

    @property
    def _is_in_background(self) -> bool:
        """Whether the service answers the current call in the background."""
        return self._background_call is not None

    def _request_answer(
        self,
        ask: Callable[[], T],
        open_stream: Callable[[], Source[E]],
        restore: R,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """The answer of a call, in the background or not."""
        call = self._background_call
        if call is None:
            return self._caller.call(ask, open_stream, restore, listeners, token)
        return _Run(self, call, self._caller, token or CancelToken()).response(ask, open_stream, restore, listeners)


class _CallbackRaised(BaseException):
    """What the caller's callback raised on its way out: it is no failure of the service, whatever its type."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Run(Generic[T, E, R]):
    """One call in the background."""

    def __init__(
        self,
        provider: BackgroundCalls[T, E, R],
        call: BackgroundCall,
        caller: ConversationCaller[T, E, R],
        token: CancelToken,
    ) -> None:
        self._provider = provider
        self._call = call
        self._caller = caller
        self._token = token
        self._running = call.running
        self._is_over = False

    def response(
        self, ask: Callable[[], T], open_stream: Callable[[], Source[E]], restore: R, listeners: Listeners
    ) -> ProviderResponse:
        """The answer that is taken up, or the one that is asked for."""
        self._token.raise_if_cancelled()
        try:
            if self._running is None:
                return self._caller.call(
                    lambda: self._wait_for(ask()), lambda: self._watched(open_stream()), restore, listeners, self._token
                )
            return self._take_up(self._running, restore, listeners)
        except Cancelled:
            if self._running is None:
                raise
            # The service has the request, though nothing of its answer came.
            return ProviderResponse(finish_reason=FinishReason.CANCELLED)
        except _CallbackRaised as passing:
            error = passing.error
        finally:
            if self._token.is_cancelled and self._running is not None and not self._is_over:
                self._cancel(self._running)
        raise error

    def _take_up(self, running: RunningAnswer, restore: R, listeners: Listeners) -> ProviderResponse:
        """The answer as it is; as a stream if it is one that has not ended."""
        answer = self._caller.simple(partial(self._retrieve, running.id), self._token)
        is_stream = listeners.on_chunk is not None and running.streamed
        if is_stream and self._provider._state_of(answer) == "running":
            return self._caller.call(
                lambda: answer,
                lambda: self._watched(self._provider._follow(running.id)),
                restore,
                listeners,
                self._token,
            )
        return self._caller.call_whole(lambda: self._wait_for(answer), restore, listeners, self._token)

    def _wait_for(self, answer: T) -> T:
        """The answer once it is over, or as it is when the call is cancelled."""
        provider = self._provider
        self._note(provider._name_of(answer), streamed=False)
        while provider._state_of(answer) == "running":
            if self._running is None or self._token.wait(self._call.poll_seconds):
                return answer
            answer = self._retrieve(self._running.id)
        self._end()
        if provider._state_of(answer) == "cancelled" and not self._token.is_cancelled:
            raise self._lost("has been cancelled")
        return answer

    def _watched(self, source: Source[E]) -> Source[E]:
        stream = ResumedStream(source, self._follow, self._provider._position, self._is_lost)
        return Source(self._watched_events(stream.events()), stream.close)

    def _watched_events(self, events: Iterator[E]) -> Iterator[E]:
        for event in events:
            name, ends = self._provider._progress(event)
            self._note(name, streamed=True)
            if ends:
                self._end()
            yield event

    def _follow(self, last: Position) -> Source[E]:
        assert self._running is not None
        return self._provider._follow(self._running.id, last)

    def _is_lost(self, error: Exception | None) -> bool:
        """Whether a stream that ended so has lost its connection, and the answer goes on at the service."""
        if self._running is None or self._is_over or self._token.is_cancelled:
            return False
        return error is None or self._caller.is_connection_lost(error)

    def _retrieve(self, name: str) -> T:
        try:
            return self._provider._retrieve(name)
        except Exception as error:
            if not self._provider._is_unknown(error):
                raise
        # Out here: the SDK's exception, which holds the request and with it the key, is not attached.
        self._end()
        raise self._lost("is not, or no longer, kept by the service")

    def _lost(self, what: str) -> AnswerLostError:
        assert self._running is not None
        name = self._running.id
        return AnswerLostError(f"the answer {name!r} {what}: send the request again for another one", answer=name)

    def _note(self, name: str | None, *, streamed: bool) -> None:
        if name and self._running is None:
            self._running = RunningAnswer(name, self._provider.model_name or "", streamed)
            self._tell(partial(self._call.on_began, self._running))

    def _end(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._tell(self._call.on_ended)

    def _tell(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except BaseException as error:
            raise _CallbackRaised(error) from None

    def _cancel(self, running: RunningAnswer) -> None:
        try:
            self._provider.cancel_answer(running)
        except ProviderError:
            _log.warning("the answer %r could not be cancelled at the service", running.id, exc_info=True)
            return
        self._is_over = True
        self._call.on_ended()
