"""What a run writes into: the events in order, and what has arrived of the answer that is on its way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from msgspec.structs import replace

from ...errors import ContractError
from ...messages import FunctionCall, Message, TokenUsage
from ...wire.emulator.server_run import Arrived
from ..tracebacks import Frame, Owners, Raised, capture
from ..transcript import CallBegan, Chunk, Event, FunctionCallDetected, LateCallback, Thinking, UsageUpdate
from .parent_channel import Control

in_child: ContextVar[bool] = ContextVar("in_child", default=False)
"""Whether what happens is part of a turn of a child that others go on beside."""

SETTLE_LIMIT = 0.5
"""Seconds a cancel waits for callbacks that the adapter may legally never make."""

UNSEEN_LIMIT = 0.05
"""Seconds that a client has for the part of an answer that no callback shows: its head and the model's name."""

_STEPS = 50
"""It waits in so many steps."""

_CALLBACK_VALUES = {
    "on_chunk": "pass the text of the piece, decoded, and leave pieces without text out",
    "on_usage_update": "pass TokenUsage(prompt_tokens, output_tokens, total_tokens, ...)",
    "on_function_call": "pass FunctionCall(id, name, args), with args as a dict, once for each whole call",
    "on_thinking": "pass the text of the thought, and leave pieces without text out",
}
"""What each callback takes, as an instruction."""


class Recorder:
    """Collects a run's events and knows what has arrived in the call that is running.

    Of a session that does not show its provider calls it only knows what the user was shown in this turn.
    """

    def __init__(self, control: Control, owners: Owners | None = None, secrets: tuple[str, ...] = ()) -> None:
        self.control = control
        self.owners = owners or Owners()
        self.opened: Frame | None = None
        """Whose code the frames of a traceback run."""
        self._secrets = secrets
        self.turn = -1
        self.call = -1
        self.probe = ""
        self.child = False
        self._child_texts: frozenset[str] = frozenset()
        self.doing = ""
        """What is being done with the session: `turn`, or an operation by the word that scenarios have for it."""
        self._cut: tuple[Event | None, Callable[[], object]] | None = None
        self._pieces_left = 0
        """Pieces of text until the application itself breaks the turn off; 0 where the server says when."""
        self._seen = threading.Condition()
        self._text = self._thinking = self._calls = self._tokens = self._shown = 0
        self._in_call = False
        self.session_alone = False
        """Whether a session is judged that was handed no provider, so that nothing else shows what it shows."""
        self.streamed = False
        self.last_calls: tuple[FunctionCall, ...] = ()
        self.on_begin: Callable[[CallBegan], None] = lambda began: None
        self.at_work: Callable[[str], None] = lambda what: None
        """To be told, where it happens, that a provider is called or that a tool runs (by its name)."""
        control.on_cancel = self._cancel_from_server

    def event(self, event: Event) -> None:
        """Record an event."""
        self.control.event(event)

    def raised(self, error: BaseException) -> Raised:
        """What the subject raised, as events have it."""
        return capture(error, self.owners, self._secrets)

    @property
    def place(self) -> dict[str, Any]:
        """The place in the run that the next event belongs to."""
        return {"turn": self.turn, "call": self.call, "probe": self.probe}

    def begin_turn(self, event: Event | None, cut: Callable[[], object], on_piece: int = 0) -> None:
        """A turn starts. `cut` is what breaks it off, where the scenario says so, and `event` the event for it; None
        where `cut` tells itself. `on_piece` is the piece of text with which the application does it."""
        with self._seen:
            self._shown = 0
        self._cut = event, cut
        self._pieces_left = on_piece

    def begin(self, began: CallBegan) -> None:
        """A provider call starts: the parent notes which exchanges follow."""
        with self._seen:
            self._text = self._thinking = self._calls = self._tokens = 0
            self._in_call = True
        if self.child:
            began = replace(began, child=True)
        self.on_begin(began)
        self.event(began)
        self.control.ask("call-begins", (began.call, began.probe))

    def end(self) -> None:
        """The provider call is over: the parent puts its exchanges in front of the callbacks."""
        self.control.ask("call-ended")
        self._in_call = False

    def saw(self, *, text: int = 0, thinking: int = 0, calls: int = 0, tokens: int = 0) -> None:
        """A callback has delivered something."""
        with self._seen:
            self._text += text
            self._thinking += thinking
            self._calls += calls
            self._tokens = max(self._tokens, tokens)
            self._seen.notify_all()

    def children_beside(self, texts: frozenset[str]) -> None:
        """Children that are told this go on beside others in this turn: what they call is not put down call by call."""
        self._child_texts = texts

    def is_beside(self, messages: Sequence[Message]) -> bool:
        """Whether a call with these messages is one of a child that goes on beside others."""
        newest = next((one.text for one in reversed(messages) if one.role == "user"), "") if self._child_texts else ""
        return any(text in newest for text in self._child_texts)

    def hear(self, text: str) -> None:
        """A piece of text has come, whoever gets to see it."""
        with self._seen:
            self._shown += len(text)
            self._seen.notify_all()

    def show(self, text: str) -> None:
        """The user is shown a piece of text."""
        self.hear(text)
        if not self._in_call:
            self.took_piece()

    def took_piece(self) -> None:
        """The application has got a piece of text, and breaks the turn off where it is the one."""
        if self._pieces_left:
            self._pieces_left -= 1
            if not self._pieces_left:
                self.cancel()

    def cancel(self) -> None:
        """Break the turn off, once, and say where."""
        found, self._cut = self._cut, None
        if found is None:
            return
        event, cut = found
        if event is not None:
            self.event(replace(event, **self.place))
        cut()

    def _cancel_from_server(self, arrived: Arrived) -> None:
        meant = self._cut
        if self.streamed:
            with self._seen:
                # In steps: a machine that stands still for longer than all of them takes but one away.
                for _ in range(_STEPS):
                    if self._seen.wait_for(lambda: self._has_arrived(arrived), timeout=SETTLE_LIMIT / _STEPS):
                        break
                    if self._cut is not meant:
                        return  # the application was faster
            if not (arrived.text or arrived.thinking or arrived.calls or arrived.tokens):
                time.sleep(UNSEEN_LIMIT)
        if self._cut is meant:
            self.cancel()

    def _has_arrived(self, arrived: Arrived) -> bool:
        if not self._in_call:
            return self._shown >= arrived.earlier + arrived.text
        return (
            self._text >= arrived.text
            and self._thinking >= arrived.thinking
            and self._calls >= arrived.calls
            and self._tokens >= arrived.tokens
        )


def checked(name: str, value: object, kind: type) -> None:
    """Raise ContractError where a callback got a value of another type: told to its caller, whose fault it is, since
    anything else than data would spoil the evidence."""
    if not isinstance(value, kind):
        kinds = f"{'None' if value is None else type(value).__name__} instead of {kind.__name__}"
        raise ContractError(f"{name} was called with {kinds}: {_CALLBACK_VALUES[name]}")


class Callbacks:
    """Recording versions of the four callbacks of one call. After `close()` they report themselves as late."""

    def __init__(
        self,
        recorder: Recorder,
        on_chunk: Callable[[str], None] | None,
        on_usage: Callable[[TokenUsage], None] | None,
        on_call: Callable[[FunctionCall], None] | None,
        on_thinking: Callable[[str], None] | None,
    ) -> None:
        self._recorder = recorder
        self._where = recorder.place
        self._open = True
        self.raised: BaseException | None = None
        self.on_chunk = self._wrap("on_chunk", on_chunk, self._chunk, str)
        self.on_usage_update = self._wrap("on_usage_update", on_usage, self._usage, TokenUsage)
        self.on_function_call = self._wrap("on_function_call", on_call, self._function_call, FunctionCall)
        self.on_thinking = self._wrap("on_thinking", on_thinking, self._thought, str)

    def close(self) -> None:
        """The call has returned; anything from here on is late."""
        self._open = False

    def _wrap(
        self, name: str, inner: Callable[[Any], None] | None, record: Callable[[Any], None], kind: type
    ) -> Callable[[Any], None] | None:
        if inner is None:
            return None

        def callback(value: Any) -> None:
            if not self._open:
                self._recorder.event(LateCallback(kind=record.__name__.strip("_"), **self._where))
                return
            checked(name, value, kind)
            record(value)
            try:
                inner(value)
            except BaseException as error:
                self.raised = error
                raise
            if name == "on_chunk":
                self._recorder.took_piece()

        return callback

    def _chunk(self, text: str) -> None:
        self._recorder.event(Chunk(text=text, **self._where))
        self._recorder.saw(text=len(text))

    def _usage(self, usage: TokenUsage) -> None:
        self._recorder.event(UsageUpdate(usage=usage, **self._where))
        self._recorder.saw(tokens=usage.total_tokens)

    def _function_call(self, call: FunctionCall) -> None:
        self._recorder.event(FunctionCallDetected(function_call=call, **self._where))
        self._recorder.saw(calls=1)

    def _thought(self, text: str) -> None:
        self._recorder.event(Thinking(text=text, **self._where))
        self._recorder.saw(thinking=len(text))
