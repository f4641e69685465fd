"""An answer put together from what arrives of it, whole or in chunks, and callbacks hear of it on the way.

`Assembler` is a plain state machine: it knows nothing of sockets, so it can be stopped after any chunk and asked what
had arrived. A message has one thinking, one text, perhaps a refusal, and calls, in this order: the form knows no other.
Calls are announced when the answer has ended, since until then any of them may grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from turnproof import messages
from turnproof.errors import PayloadError, ProviderError, TransportError

from .._answers import Listeners, cancelled_response, highest_usage
from .._characters import Joiner, whole_characters
from .calls import Calls
from .finish import WHOLE, finish_reason
from .service import Service
from .wire import END, THINKING, Answer, Call, ChatMessage, Choice, Failure, tokens


@dataclass(frozen=True, slots=True)
class Reading:
    """How the answers of one call are read: whose they are, the way back to tools' own names, and what a failure told
    in an answer's place means."""

    service: Service
    restore: Callable[[str], str]
    failed: Callable[[Failure], ProviderError]


@dataclass(slots=True)
class _Words:
    """Words that grow, and who is told of them."""

    listener: Callable[[str], None] | None
    pieces: list[str] = field(default_factory=list)
    joiner: Joiner = field(default_factory=Joiner)

    def add(self, words: str | None) -> None:
        if words:
            self._show(self.joiner.feed(words))

    def end(self) -> None:
        self._show(self.joiner.rest())

    def _show(self, words: str) -> None:
        if words:
            self.pieces.append(words)
            if self.listener is not None:
                self.listener(words)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class Assembler:
    """Feed it an answer's chunks in order, and `END`. Without a reason for its end before that no stream is whole."""

    def __init__(self, reading: Reading, listeners: Listeners) -> None:
        self.complete = False
        self.failure: ProviderError | None = None
        self._reading = reading
        self._listeners = listeners
        self._id = ""
        self._model = ""
        self._finish: str | None = None
        self._usage = messages.TokenUsage()
        self._shown = messages.TokenUsage()
        self._thinking = _Words(listeners.on_thinking)
        self._field: str | None = None
        self._sealed: list[str] = []
        self._text = _Words(listeners.on_chunk)
        self._annotations: list[Any] = []
        self._refusal = _Words(listeners.on_chunk)
        self._growing = Calls(reading.restore)
        self._calls: tuple[messages.FunctionCall, ...] = ()

    def feed(self, chunk: Answer) -> None:
        """Take one chunk. What follows the end changes nothing."""
        if self.complete:
            return
        if chunk is END:
            if self._finish is None:
                self.failure = TransportError("the stream ended before it said how the answer ended")
            else:
                self.end()
            return
        if (failure := chunk.failure) is not None:
            self.failure = self._reading.failed(failure)
            return
        self._id = self._id or (chunk.id if isinstance(chunk.id, str) else "")
        self._model = whole_characters(chunk.model or self._model)
        for choice in chunk.choices or ():
            self._take(choice)
        if chunk.usage is not None:
            self._usage = tokens(chunk.usage)
            self._shown = highest_usage(self._shown, self._usage)
            if self._listeners.on_usage_update is not None:
                self._listeners.on_usage_update(self._shown)

    def end(self) -> None:
        """The answer is all there: its calls are whole now, or never will be."""
        for words in (self._thinking, self._text, self._refusal):
            words.end()
        try:
            self._calls = tuple(self._growing.parts(self._id or uuid4().hex, cut=self._finish not in WHOLE))
        except TransportError as error:
            self.failure = error
            return
        self.complete = True
        if self._listeners.on_function_call is not None:
            for call in self._calls:
                self._listeners.on_function_call(call)

    def response(self) -> messages.ProviderResponse:
        """The finished answer."""
        refused = bool(self._refusal.pieces)
        return messages.ProviderResponse(
            parts=(*self._words(), *self._calls),
            usage=self._usage,
            finish_reason=finish_reason(self._finish, calls=bool(self._calls), refused=refused),
            raw_finish=self._finish,
            model=self._model or None,
        )

    def cancelled(self) -> messages.ProviderResponse:
        """What had arrived: text, and thinking that was sealed. Never a call."""
        return cancelled_response(filter(stands_alone, self._words()), self._usage, self._model)

    def _take(self, choice: Choice) -> None:
        self._finish = choice.finish or self._finish
        delta = choice.delta or choice.message
        if delta is None:
            return
        self._think(delta)
        self._text.add(_text_of(delta.content))
        self._refusal.add(delta.refusal)
        try:
            if isinstance(delta.annotations, list):
                self._annotations += messages.freeze(delta.annotations)
            for piece in delta.tool_calls or ():
                self._growing.add(choice.index or 0, piece)
            if delta.function_call is not None:
                self._growing.add(choice.index or 0, Call(index=-1, function=delta.function_call))
        except TransportError as error:
            self.failure = error
        except PayloadError:
            self.failure = TransportError("the service sent annotations that are nested too deeply to be kept")

    def _think(self, delta: ChatMessage) -> None:
        # Some servers say the same in two fields.
        for field_name in THINKING:
            if words := getattr(delta, field_name):
                self._field = self._field or field_name
                self._thinking.add(words)
                break
        if delta.reasoning_opaque:
            self._sealed.append(delta.reasoning_opaque)

    def _words(self) -> Iterator[messages.Part]:
        if self._thinking.pieces or self._sealed:
            data = {"field": self._field} if self._field else {}
            if self._sealed:
                data["encrypted"] = whole_characters("".join(self._sealed))
            yield messages.Thought(self._thinking.text, provider_data=self._issued(data))
        if self._text.pieces:
            issued = self._issued({"annotations": self._annotations}) if self._annotations else None
            yield messages.Text(self._text.text, provider_data=issued)
        if self._refusal.pieces:
            yield messages.Text(self._refusal.text, provider_data=self._issued({"refusal": True}))

    def _issued(self, data: dict[str, Any]) -> messages.ProviderData:
        return messages.ProviderData(self._reading.service.dialect, self._model, data)


def stands_alone(part: messages.Part) -> bool:
    """Whether a part makes sense in a history without what would have followed it.

    A thought may have been broken off anywhere: it is whole for sure only with the seal that ends it.
    """
    if isinstance(part, messages.Thought):
        return part.provider_data is not None and "encrypted" in part.provider_data.data
    return isinstance(part, messages.Text)


def read_answer(reading: Reading, answer: Answer, listeners: Listeners) -> messages.ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream.

    Raises TransportError for one without choices, or with a call that cannot be read.
    """
    assembler = Assembler(reading, listeners)
    assembler.feed(answer)
    if assembler.failure is None:
        if not answer.choices:
            raise TransportError("the service sent an answer without choices")
        assembler.end()
    if assembler.failure is not None:
        raise assembler.failure
    return assembler.response()


def _text_of(content: str | list[dict[str, Any]] | None) -> str | None:
    """The text of a content; some servers send it in blocks."""
    if not isinstance(content, list):
        return content
    return "".join(block["text"] for block in content if isinstance(block.get("text"), str))
