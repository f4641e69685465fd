"""`SessionObserver`: told of everything that a session does, and without a say in any of it.

For a user interface, a log, a ledger. All methods are called in the thread of the turn (or of the change), one after
the other, and what they raise is logged and goes no further.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from ..background_answers import RunningAnswer
from ..cache import PrefixLoss
from ..gc import GCResult
from ..messages import FunctionCall, Message, ProviderResponse, TokenUsage, ToolResult
from .inbox import Sender
from .result import TurnResult
from .retry import Retry

Status: TypeAlias = Literal["idle", "running", "waiting"]
"""`waiting` is a running turn's pause before a call is made again."""

Source: TypeAlias = Literal["model", "thinking", "system", "error", "user", "parent", "tool"]
"""Who said what is shown."""

Mode: TypeAlias = Literal["write", "append"]
"""`write` opens a block of output, `append` goes on with it."""

_log = logging.getLogger(__name__)


class SessionObserver:
    """Does nothing. Override what you want to be told of."""

    def on_status(self, status: Status) -> None:
        """The session's status has changed."""

    def on_output(self, source: Source, text: str, mode: Mode) -> None:
        """Something to show. The pieces of one block are joined as they are."""

    def on_taken_back(self, text: str) -> None:
        """What was shown of the answer that is being given does not count, thoughts and calls included. Another one
        follows. `text` is its visible text."""

    def on_turn_began(self, user: Message) -> None:
        """A turn starts with this message."""

    def on_delivered(self, message: Message, sender: Sender) -> None:
        """What somebody said to the session while it was busy is part of the running turn now, and sent next."""

    def on_turn_ended(self, result: TurnResult | BaseException) -> None:
        """The turn that began last is over: with a result, or with what it raises."""

    def on_tool_began(self, call: FunctionCall) -> None:
        """A call of the model is handed to its tool."""

    def on_tool_ended(self, call: FunctionCall, result: ToolResult) -> None:
        """Once for each `on_tool_began`, in the order of the calls; also when the turn was cancelled."""

    def on_retry(self, retry: Retry) -> None:
        """A call failed and will be made again. Before the wait."""

    def on_usage(self, usage: TokenUsage) -> None:
        """What the provider reported, while it streams and at the end of each call."""

    def on_response(self, response: ProviderResponse) -> None:
        """The model answered a call, or was cut short by a cancel. Once a call, also in a turn that fails later."""

    def on_answer_began(self, answer: RunningAnswer, messages: Sequence[Message]) -> None:
        """The service has named an answer that it works on in the background. `messages` is the turn up to here.

        The session does not wait for the answer before this has returned.
        """

    def on_answer_ended(self, answer: RunningAnswer) -> None:
        """The service works on such an answer no more: it has come, failed, is lost or was cancelled."""

    def on_collected(self, result: GCResult) -> None:
        """The history was collected, and something went, or the largest tool results were cut."""

    def on_prefix_lost(self, loss: PrefixLoss) -> None:
        """Tokens that the provider had cached were written, or paid in full, again. With a cache plugin only."""

    def on_history(self, messages: Sequence[Message]) -> None:
        """The history holds these messages now: after each turn, also a failed one, and after each change."""


class Observers(SessionObserver):
    """Several observers as one, each behind a guard. The order is that in which they were given."""

    def __init__(self, observers: Sequence[SessionObserver] = ()) -> None:
        self._observers = tuple(observers)

    def add(self, observer: SessionObserver) -> Callable[[], None]:
        """One more, told last. Returns a function that takes it out again."""
        self._observers = (*self._observers, observer)
        return lambda: self._remove(observer)

    def _remove(self, observer: SessionObserver) -> None:
        self._observers = tuple(other for other in self._observers if other is not observer)

    def on_status(self, status: Status) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_status(status))

    def on_output(self, source: Source, text: str, mode: Mode) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_output(source, text, mode))

    def on_taken_back(self, text: str) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_taken_back(text))

    def on_turn_began(self, user: Message) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_turn_began(user))

    def on_delivered(self, message: Message, sender: Sender) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_delivered(message, sender))

    def on_turn_ended(self, result: TurnResult | BaseException) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_turn_ended(result))

    def on_tool_began(self, call: FunctionCall) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_tool_began(call))

    def on_tool_ended(self, call: FunctionCall, result: ToolResult) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_tool_ended(call, result))

    def on_retry(self, retry: Retry) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_retry(retry))

    def on_usage(self, usage: TokenUsage) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_usage(usage))

    def on_response(self, response: ProviderResponse) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_response(response))

    def on_answer_began(self, answer: RunningAnswer, messages: Sequence[Message]) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_answer_began(answer, messages))

    def on_answer_ended(self, answer: RunningAnswer) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_answer_ended(answer))

    def on_collected(self, result: GCResult) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_collected(result))

    def on_prefix_lost(self, loss: PrefixLoss) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_prefix_lost(loss))

    def on_history(self, messages: Sequence[Message]) -> None:
        """To each of them."""
        self._notify(lambda one: one.on_history(messages))

    def _notify(self, call: Callable[[SessionObserver], None]) -> None:
        for observer in self._observers:
            try:
                call(observer)
            except Exception:  # an observer: what it thinks of an event does not change the session
                _log.exception("%s failed as an observer", type(observer).__name__)
