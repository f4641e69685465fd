"""Callbacks of one provider call, however often it has to be attempted: nothing is shown twice.

A retried stream starts from the beginning. What was shown before is swallowed as long as the new stream repeats it;
if it says something else instead, the two cannot be joined into one text that anybody said. So the call fails with
the error that had caused the retry, unless the caller can be told that what it was shown does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from msgspec.structs import astuple

from ..messages import FunctionCall, ProviderResponse, TokenUsage
from ..provider import CallOptions, OnChunk, OnFunctionCall, OnThinking, OnUsage
from .observer import SessionObserver, Source

T = TypeVar("T")

OnTakenBack: TypeAlias = Callable[[str], None]
"""Called with the text that was shown of an answer and no longer counts. The next pieces replace it."""


class TurnOptions(CallOptions, total=False):
    """The keyword arguments of a turn.

    An answer can break off, and a repeated request can bring another answer than the one that was partly shown. With
    `on_taken_back` the turn then continues: the caller removes what it has shown of the first answer, thoughts and
    calls included, and gets the new answer from its beginning. Without it the turn fails.
    """

    on_taken_back: OnTakenBack | None


@dataclass(frozen=True, slots=True)
class Callbacks:
    """What the caller of a turn wants to be told while it runs; text is streamed if `on_chunk` is given."""

    on_chunk: OnChunk | None = None
    on_usage_update: OnUsage | None = None
    on_function_call: OnFunctionCall | None = None
    on_thinking: OnThinking | None = None
    on_taken_back: OnTakenBack | None = None

    @classmethod
    def of(cls, options: TurnOptions) -> Callbacks:
        """Those among the options of a turn."""
        return cls(
            options.get("on_chunk"),
            options.get("on_usage_update"),
            options.get("on_function_call"),
            options.get("on_thinking"),
            options.get("on_taken_back"),
        )


class Diverged(Exception):
    """A repeated stream contradicts what was already shown."""


class Interrupted(Exception):
    """A call must not go on, nor be made again: because of Diverged, or of what the caller's callback raised."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(repr(reason))
        self.reason = reason


class CallbackRelay:
    """Stands between a provider and the caller's callbacks for one call.

    Each attribute `on_*` is None exactly where the caller gave none. An exception of the caller's callback goes
    through the provider; `verify()` tells of it, whatever the provider made of it.
    """

    def __init__(self, callbacks: Callbacks, observer: SessionObserver | None = None) -> None:
        self._callbacks = callbacks
        self._observer = observer or SessionObserver()
        self._open: Source | None = None
        self._failure: BaseException | None = None
        self._text = _Once()
        self._thoughts = _Once()
        self._calls: list[FunctionCall] = []
        self._attempted_calls: list[FunctionCall] = []
        self._usage: TokenUsage | None = None
        self.on_chunk = self._chunk if callbacks.on_chunk else None
        self.on_usage_update = self._usage_update if callbacks.on_usage_update else None
        self.on_function_call = self._function_call if callbacks.on_function_call else None
        self.on_thinking = self._thinking if callbacks.on_thinking else None

    @property
    def shown_text(self) -> str:
        """The text that the caller has seen of this call."""
        return self._text.shown_text

    @property
    def is_catching_up(self) -> bool:
        """Whether the present attempt has not repeated all of the text that the caller has seen."""
        return self._text.is_catching_up

    @property
    def usage(self) -> TokenUsage | None:
        """The last figures that the caller was told of this call."""
        return self._usage

    def restart(self) -> None:
        """A new attempt begins: what is already shown will come again."""
        self._text.restart()
        self._thoughts.restart()
        self._attempted_calls = []

    def verify(self, *, complete: bool = False) -> None:
        """Raise Interrupted if a callback failed, or if a `complete` attempt fell short of what was shown.

        Where that can be taken back, it is.
        """
        if self._failure is None and complete and self._falls_short:
            try:
                self._replace()
            except BaseException as error:
                raise Interrupted(self._failure or error) from None
        if self._failure is not None:
            raise Interrupted(self._failure)

    def finish(self, response: ProviderResponse) -> None:
        """Tell the observer what no callback of this call has shown: an answer in one piece, and its last figures."""
        if self.on_chunk is None and response.text:
            self._show("model", response.text)
        if response.usage.total_tokens and response.usage != self._usage:
            self._observer.on_usage(response.usage)

    @property
    def _falls_short(self) -> bool:
        return self._text.is_catching_up or len(self._attempted_calls) < len(self._calls)

    def _replace(self) -> None:
        """Take back what was shown of earlier attempts, and show what the present one has brought so far.

        Raises Diverged where the caller cannot be told.
        """
        on_taken_back = self._callbacks.on_taken_back
        if on_taken_back is None:
            self._fail(Diverged())
            return
        shown, text, thoughts, calls = self.shown_text, self._text, self._thoughts, self._attempted_calls
        self._text, self._thoughts, self._calls, self._attempted_calls = _Once(), _Once(), [], []
        self._open = None
        self._observer.on_taken_back(shown)
        self._call_back(on_taken_back, shown)
        for piece in thoughts.attempted:
            self._thinking(piece)
        for piece in text.attempted:
            self._chunk(piece)
        for call in calls:
            self._function_call(call)

    def _show(self, source: Source, text: str) -> None:
        self._observer.on_output(source, text, "append" if self._open == source else "write")
        self._open = source

    def _chunk(self, piece: str) -> None:
        fresh = self._text.feed(piece)
        if fresh is None:
            self._replace()
        elif fresh and self._callbacks.on_chunk:
            self._show("model", fresh)
            self._call_back(self._callbacks.on_chunk, fresh)

    def _thinking(self, piece: str) -> None:
        # Other thoughts than before garble nothing that counts: they are in the response, and only not shown.
        fresh = self._thoughts.feed(piece)
        if fresh and self._callbacks.on_thinking:
            self._show("thinking", fresh)
            self._call_back(self._callbacks.on_thinking, fresh)

    def _function_call(self, call: FunctionCall) -> None:
        at = len(self._attempted_calls)
        self._attempted_calls.append(call)
        if at < len(self._calls):
            # Providers issue a new id for each attempt, so that only the name and the arguments can be compared.
            if (call.name, call.args) != (self._calls[at].name, self._calls[at].args):
                self._replace()
            return
        self._calls.append(call)
        if self._callbacks.on_function_call:
            self._call_back(self._callbacks.on_function_call, call)

    def _usage_update(self, usage: TokenUsage) -> None:
        # Cumulative for the caller, so figures of a new attempt wait until they have caught up.
        if self._usage is not None and any(
            new < old for new, old in zip(astuple(usage), astuple(self._usage), strict=True)
        ):
            return
        self._usage = usage
        self._observer.on_usage(usage)
        if self._callbacks.on_usage_update:
            self._call_back(self._callbacks.on_usage_update, usage)

    def _call_back(self, callback: Callable[[T], None], value: T) -> None:
        if self._failure is not None:
            return
        try:
            callback(value)
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        raise error


class _Once:
    """A text that arrives in pieces, and after a restart once more from its beginning.

    `attempted` are the pieces since then, new or not.
    """

    __slots__ = ("_at", "_before", "_differs", "_pieces", "attempted")

    def __init__(self) -> None:
        self.attempted: list[str] = []
        self._pieces: list[str] = []
        self._before = ""
        self._at = 0
        self._differs = False

    @property
    def shown_text(self) -> str:
        return "".join(self._pieces)

    @property
    def is_catching_up(self) -> bool:
        """Whether the present attempt has not yet repeated all that earlier ones gave."""
        return self._at < len(self._before)

    def restart(self) -> None:
        self._before = self.shown_text
        self._at = 0
        self._differs = False
        self.attempted = []

    def feed(self, piece: str) -> str | None:
        """What of `piece` is new ("" for a repetition), or None once it contradicts what came before."""
        self.attempted.append(piece)
        if self.is_catching_up:
            known = self._before[self._at : self._at + len(piece)]
            self._differs = self._differs or not piece.startswith(known)
            if self._differs:
                return None
            self._at += len(known)
            piece = piece[len(known) :]
        if piece:
            self._pieces.append(piece)
        return piece
