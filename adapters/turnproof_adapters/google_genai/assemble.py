"""An answer in Gemini's form becomes a neutral one, and callbacks hear of it on the way.

`Assembler` is a plain state machine: it knows neither sockets nor an SDK. Whoever reads the wire hands it a `Chunk` for
each of the answer's objects; a batch answer is one of them, a stream several. Order is the model's own. Neighbouring
texts of one kind are joined, except that a part with a signature stays a part of its own: the API wants it back exactly
as it came. Where thoughts are signed, the piece that brings the signature ends the thought before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import uuid4

from turnproof import messages
from turnproof.cancel import CancelToken
from turnproof.errors import ContentFilterError, PayloadError, ProviderError, TransportError

from .._answers import Listeners, cancelled_response, highest_usage
from .._characters import Joiner, whole_characters
from .finish import finish_reason, unusable
from .names import made_up_id
from .target import Target

Restore: TypeAlias = Callable[[str], str]
"""From a tool's wire name to its own."""


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of text or of thinking; `issued` is what the service attached to it."""

    kind: type[messages.Text] | type[messages.Thought]
    text: str
    issued: messages.ProviderData | None = None


@dataclass(frozen=True, slots=True)
class Called:
    """A call, whole, as the wire has it."""

    id: str | None
    name: str | None
    args: dict[str, Any] | None
    issued: messages.ProviderData | None = None


Piece: TypeAlias = Words | Called | messages.Part | None
"""One part of the wire; None is one of which nothing is kept."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One object of an answer. What it lacks is None, or empty, and changes nothing."""

    pieces: Iterable[Piece] = ()
    answer: str | None = None
    model: str | None = None
    finish: str | None = None
    finish_message: str | None = None
    usage: messages.TokenUsage | None = None
    blocked: ContentFilterError | None = None


@dataclass(slots=True)
class _Words:
    """Text of one kind that may still go on."""

    kind: type[messages.Text] | type[messages.Thought]
    pieces: list[str] = field(default_factory=list)
    joiner: Joiner = field(default_factory=Joiner)

    def part(self, issued: messages.ProviderData | None = None) -> messages.Part:
        return self.kind(text="".join(self.pieces), provider_data=issued)


class Assembler:
    """Feed it an answer's chunks in order. `complete` turns true with the finish reason.

    `to` is the model that was asked, which alone gets its signatures back. One chunk may hold several pieces: after
    the one whose callback sets `token`, the rest is neither told nor kept, but for the chunk's figures.
    """

    def __init__(self, to: Target, restore: Restore, listeners: Listeners, token: CancelToken | None = None) -> None:
        self.complete = False
        self.failure: ProviderError | None = None
        self._to = to
        self._restore = restore
        self._listeners = listeners
        self._token = token or CancelToken()
        self._pieces: list[messages.Part | _Words] = []
        self._calls = 0
        self._answer = ""
        self._answered_by: str | None = None
        self._raw_finish: str | None = None
        self._finish_message: str | None = None
        self._usage = messages.TokenUsage()
        self._shown = messages.TokenUsage()

    def feed(self, chunk: Chunk) -> None:
        """Take one chunk."""
        self._answer = self._answer or chunk.answer or ""
        self._answered_by = whole_characters(chunk.model or "") or self._answered_by
        for piece in chunk.pieces:
            self._take(piece)
            if self.failure is not None or self._token.is_cancelled:
                break
        else:
            self._end(chunk)
        if chunk.usage is not None:
            self._count(chunk.usage)

    def _end(self, chunk: Chunk) -> None:
        """Take what a chunk says of how the answer ended."""
        if chunk.finish is not None:
            self._end_words()
            self._raw_finish = chunk.finish
            self._finish_message = chunk.finish_message
            self.complete = True
        self.failure = chunk.blocked or self.failure

    def response(self) -> messages.ProviderResponse:
        """The finished answer. Raises TransportError for one that cannot be read, and for none at all."""
        failure = self.failure or unusable(self._raw_finish, self._finish_message)
        if failure is not None:
            raise failure
        if self._raw_finish is None and not self._pieces:
            raise TransportError("the service sent an answer without a candidate")
        return messages.ProviderResponse(
            parts=self._parts(),
            usage=self._usage,
            finish_reason=finish_reason(self._raw_finish, has_calls=self._calls > 0, calling=self._to.calling),
            raw_finish=self._raw_finish,
            model=self._answered_by,
        )

    def cancelled(self) -> messages.ProviderResponse:
        """What had arrived of text, and thoughts that were signed. Never a call."""
        return cancelled_response(filter(stands_alone, self._parts()), self._usage, self._answered_by)

    def _take(self, piece: Piece) -> None:
        match piece:
            case Words():
                self._take_words(piece)
            case Called():
                self._end_words()
                self._take_call(piece)
            case None:
                self._end_words()
            case _:
                self._end_words()
                self._pieces.append(piece)

    def _take_call(self, called: Called) -> None:
        name = whole_characters(self._restore(called.name or ""))
        call_id = whole_characters(called.id or "") or made_up_id(self._named(), self._calls)
        try:
            part = messages.FunctionCall(call_id, name, called.args or {}, provider_data=called.issued)
        except PayloadError as error:
            self.failure = TransportError(f"the service sent malformed arguments for a call of {name!r:.80} ({error})")
            return
        self._calls += 1
        self._pieces.append(part)
        if self._listeners.on_function_call is not None:
            self._listeners.on_function_call(part)

    def _take_words(self, words: Words) -> None:
        last = self._pieces[-1] if self._pieces else None
        goes_on = isinstance(last, _Words) and last.kind is words.kind
        if words.issued is not None and not (goes_on and self._to.anthropic):
            self._end_words()
            text = whole_characters(words.text)
            self._pieces.append(words.kind(text=text, provider_data=words.issued))
            self._show(words.kind, text)
        elif words.text or words.issued is not None:
            if not isinstance(last, _Words) or not goes_on:
                self._end_words()
                last = _Words(words.kind)
                self._pieces.append(last)
            text = last.joiner.feed(words.text)
            last.pieces.append(text)
            self._show(words.kind, text)
            if words.issued is not None:
                self._end_words()
                self._pieces[-1] = last.part(words.issued)

    def _end_words(self) -> None:
        """What comes next is no part of the words before it."""
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, _Words) and (rest := last.joiner.rest()):
            last.pieces.append(rest)
            self._show(last.kind, rest)

    def _show(self, kind: type[messages.Text] | type[messages.Thought], text: str) -> None:
        listener = self._listeners.on_thinking if kind is messages.Thought else self._listeners.on_chunk
        if text and listener is not None:
            listener(text)

    def _named(self) -> str:
        """What tells this answer from every other."""
        self._answer = self._answer or uuid4().hex
        return self._answer

    def _count(self, usage: messages.TokenUsage) -> None:
        self._usage = usage
        self._shown = highest_usage(self._shown, usage)
        if self._listeners.on_usage_update is not None:
            self._listeners.on_usage_update(self._shown)

    def _parts(self) -> tuple[messages.Part, ...]:
        return tuple(self._part(piece) if isinstance(piece, _Words) else piece for piece in self._pieces)

    def _part(self, words: _Words) -> messages.Part:
        """Words without a signature. A thought shows whose it is all the same."""
        return words.part(self._to.mark if words.kind is messages.Thought else None)


def read_answer(
    assembler: Callable[[Listeners], Assembler], answer: Chunk, listeners: Listeners
) -> messages.ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream."""
    assembly = assembler(listeners)
    assembly.feed(answer)
    return assembly.response()


def stands_alone(part: messages.Part) -> bool:
    """Whether a part makes sense in a history without what would have followed it.

    A thought may have been broken off anywhere: it is whole for sure only with the signature that ends it.
    """
    if isinstance(part, messages.Thought):
        return part.provider_data is not None and "signature" in part.provider_data.data
    return isinstance(part, messages.Text)


def blocked(reason: str, message: str | None) -> ContentFilterError:
    """What stands in place of an answer where the service refused the prompt."""
    detail = f": {message}" if message else ""
    return ContentFilterError(f"the service refused the prompt ({reason}){detail}", kind=reason)
