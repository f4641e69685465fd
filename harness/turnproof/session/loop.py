"""One turn: from the user's message to an answer, through as many tool rounds as the model wants.

The history grows only by what can be sent again: a message of the user, answers, and one tool message behind each
answer with calls. Calls are run, and recorded, only where the response ended in an ordinary way; one that stands
in a response that was cut off or blocked goes unrecorded, because nothing will ever answer it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..cancel import CancelToken
from ..errors import Cancelled, ContextLimitError, ProviderError, TurnproofError
from ..messages import (
    FinishReason,
    FunctionCall,
    Message,
    MessageIds,
    Part,
    ProviderResponse,
    Text,
    TokenUsage,
)
from ..provider import JSONSchema
from .history import SessionHistory
from .observer import Retry, SessionObserver
from .ports import Context, Port
from .relay import Callbacks, Diverged, Interrupted, Relay
from .result import TurnResult
from .retry import RetryPolicy, Sleep
from .tools import ToolBox

_CALLS_STAND = {FinishReason.TOOL_USE, FinishReason.STOP, FinishReason.PAUSED, FinishReason.UNKNOWN}


class TooManyRounds(TurnproofError):
    """The model kept on calling tools (or pausing) for `rounds` responses; the turn was taken back."""

    def __init__(self, rounds: int) -> None:
        super().__init__(
            f"the turn had no end after {rounds} responses of the model; the history is as before it. "
            "If that many are wanted, raise max_rounds"
        )
        self.rounds = rounds


@dataclass(frozen=True, slots=True)
class TurnSetup:
    """What a turn works with. `make_room` collects history for the given number of turns; True if that freed any."""

    history: SessionHistory
    port: Port
    context: Context
    tools: ToolBox
    retry: RetryPolicy
    sleep: Sleep
    observer: SessionObserver
    ids: MessageIds
    max_rounds: int
    make_room: Callable[[int | None], bool]


class Turn:
    """Runs once. On any exception the history is left half-way: the session takes it back."""

    def __init__(
        self, setup: TurnSetup, callbacks: Callbacks, token: CancelToken, response_schema: JSONSchema | None = None
    ) -> None:
        self._setup = setup
        self._history = setup.history
        self._callbacks = callbacks
        self._token = token
        self._schema = response_schema
        self._text: list[str] = []
        self._rounds = 0
        self._attempts = 0
        self._room = iter((None, 1))
        self._failed: ProviderError | None = None

    def run(self, user: Message) -> TurnResult:
        """Append `user`, have it answered, and run tools until nothing is called any more."""
        self._history.append(user)
        response = ProviderResponse(finish_reason=FinishReason.CANCELLED)
        while True:
            if self._rounds >= self._setup.max_rounds and not self._token.is_cancelled:
                raise TooManyRounds(self._rounds)
            relay = Relay(self._callbacks, self._setup.observer)
            try:
                response = self._call(relay)
            except Cancelled:
                return self._stopped_early(relay, response, user)
            if response.finish_reason is FinishReason.CANCELLED:
                return self._cut(relay, response)
            self._rounds += 1
            relay.finish(response)
            message = self._record(_recorded(response))
            calls = message.calls if message else ()
            if calls:
                # A cancel in here ends the turn at the next call, which is then not made.
                self._answer(calls)
            elif response.finish_reason is not FinishReason.PAUSED or not message or not self._setup.port.continues:
                return self._result(response, "answer")

    def _call(self, relay: Relay) -> ProviderResponse:
        """One answer, with retries, and with less history where the provider says that it is too long."""
        self._failed = None
        while True:
            try:
                return self._call_with_retries(relay)
            except ContextLimitError:
                # First what the collector would keep by itself, then this turn alone.
                if not any(self._setup.make_room(keep) for keep in self._room):
                    raise

    def _call_with_retries(self, relay: Relay) -> ProviderResponse:
        def attempt() -> ProviderResponse:
            relay.restart()
            self._token.raise_if_cancelled()
            self._attempts += 1
            try:
                response = self._setup.port.complete(
                    self._history.messages_ref, self._setup.context, relay, self._token, self._schema
                )
            except ProviderError as error:
                relay.verify()
                self._failed = error
                if error.retryable and self._token.is_cancelled:
                    raise Cancelled("the turn was cancelled while its call failed") from error
                raise
            except Exception:
                relay.verify()
                raise
            relay.verify(complete=response.finish_reason is not FinishReason.CANCELLED)
            return response

        setup = self._setup
        try:
            return setup.retry.call(attempt, token=self._token, sleep=setup.sleep, on_retry=self._retried)
        except Interrupted as stop:
            # Only a repeated attempt can diverge, so there is an error that made it necessary.
            raise (self._failed if self._failed and isinstance(stop.reason, Diverged) else stop.reason) from None

    def _retried(self, attempt: int, delay: float, error: ProviderError) -> None:
        self._setup.observer.on_retry(Retry(attempt, delay, error))

    def _answer(self, calls: tuple[FunctionCall, ...]) -> None:
        results = self._setup.tools.run(calls, self._token)
        self._history.append(Message("tool", results, self._setup.ids()))

    def _record(self, parts: tuple[Part, ...]) -> Message | None:
        """The model's message in the history; none for an empty answer, which no provider would take back."""
        self._text.extend(part.text for part in parts if isinstance(part, Text))
        if not parts:
            return None
        message = Message("model", parts, self._setup.ids())
        self._history.append(message)
        return message

    def _cut(self, relay: Relay, response: ProviderResponse) -> TurnResult:
        """Cancelled in the middle of an answer: what arrived is kept, and never less text than was shown."""
        if relay.behind:
            response = _partial(relay, response.usage)
        self._record(_recorded(response))
        return self._result(response, "cancelled")

    def _stopped_early(self, relay: Relay, last: ProviderResponse, user: Message) -> TurnResult:
        """Cancelled while no request was open: before the first, between two, or while waiting to try again."""
        if relay.shown:
            return self._cut(relay, _partial(relay, relay.usage or last.usage))
        if self._history.last is user:
            self._history.pop_last()
        return self._result(last, "cancelled")

    def _result(self, response: ProviderResponse, outcome: Literal["answer", "cancelled"]) -> TurnResult:
        return TurnResult(
            response=response,
            text="".join(self._text),
            rounds=self._rounds,
            usage=response.usage,
            outcome=outcome,
            attempts=self._attempts,
        )


def _recorded(response: ProviderResponse) -> tuple[Part, ...]:
    if response.finish_reason in _CALLS_STAND:
        return response.parts
    return tuple(part for part in response.parts if not isinstance(part, FunctionCall))


def _partial(relay: Relay, usage: TokenUsage) -> ProviderResponse:
    return ProviderResponse((Text(relay.shown),), usage, FinishReason.CANCELLED)
