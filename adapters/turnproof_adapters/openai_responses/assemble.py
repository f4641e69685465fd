"""A stream's events become an answer, and callbacks hear of it on the way.

`Assembler` is a plain state machine: it knows nothing of sockets, so it can be stopped after any event and asked what
had arrived. Items are known by their place, never by their id: some gateways give an item another id with every event.
What counts of an item is its last form, in the event that ends it: what opens a reasoning item holds other encrypted
content (`openai` 3.54, `ResponseReasoningItem`). A call is announced once, there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from turnproof.errors import ProviderError, TransportError
from turnproof.messages import Part, ProviderResponse, Text, Thought

from .._answer_items import ItemsAssembler, OpenItem, Restore, parts_of_answer, refuse_unfinished, unreadable
from .._answers import Listeners, cancelled_response, stands_alone
from .._characters import whole_characters
from ..openai.wire import Failure
from . import parts as neutral
from .wire import Answer, Event, tokens

_SPEAKS = {
    "response.output_text.delta": ("message", "output_text"),
    "response.refusal.delta": ("message", "refusal"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary_text"),
    "response.reasoning_text.delta": ("reasoning", "reasoning_text"),
}
"""Events that bring words: the item that they grow, and the block in it."""

_ENDS = ("response.completed", "response.incomplete", "response.failed")


@dataclass(slots=True)
class _Open(OpenItem):
    """An item that is still growing, with the blocks of words that came since its opening event."""

    spoken_kinds = ("message", "reasoning")

    blocks: dict[tuple[str, int], list[str]] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)

    def in_its_words(self, item: dict[str, Any]) -> dict[str, Any]:
        """An item with the words that were heard of it, in place of its own."""
        blocks = [
            {"type": block, ("refusal" if block == "refusal" else "text"): "".join(pieces)}
            for (block, _), pieces in self.blocks.items()
        ]
        if self.kind == "message":
            return {**item, "content": blocks}
        return {**item, "summary": blocks, "content": []}

    def with_arguments(self, item: dict[str, Any]) -> dict[str, Any]:
        """A call with the arguments that came in pieces, where its end does not repeat them."""
        return item if item.get("arguments") else {**item, "arguments": "".join(self.arguments)}


class Assembler(ItemsAssembler[Failure]):
    """Feed it events in order. `complete` turns true with the event that ends the response."""

    def __init__(self, restore: Restore, listeners: Listeners, failed: Callable[[Failure], ProviderError]) -> None:
        super().__init__(restore, listeners, failed)
        self._answer = Answer()
        self._items: dict[int, _Open | tuple[Part, ...]] = {}
        self._places: dict[str, int] = {}

    def feed(self, event: Event) -> None:
        """Take one event. Kinds that are not known change nothing, nor does what follows the end."""
        if self.complete:
            return
        if event.type == "error" or event.error:
            self.failure = self._failed(event.failure)
            return
        match event.type:
            case "response.output_item.added":
                self._open(self._place_of(event), event.item)
            case "response.output_item.done":
                self._close(self._place_of(event), event.item)
            case "response.function_call_arguments.delta":
                opened = self._items.get(self._place_of(event))
                if isinstance(opened, _Open) and isinstance(event.delta, str):
                    opened.arguments.append(event.delta)
            case "response.created" | "response.in_progress" | "response.queued":
                self._read_end(event.response)
            case kind if kind in _SPEAKS:
                self._speak(event)
            case kind if kind in _ENDS:
                self._read_end(event.response)
                self._end()

    def response(self) -> ProviderResponse:
        """The finished answer. Raises TransportError if a call that was not cut is malformed or was never ended."""
        if self._answer.status != "incomplete":
            refuse_unfinished(self._malformed, self._items)
        return to_response(self._answer, self._model, tuple(self._parts()))

    def cancelled(self) -> ProviderResponse:
        """What had arrived: text, and reasoning whose encrypted content had come. Never a call."""
        return cancelled_response(filter(stands_alone, self._parts()), tokens(self._answer.usage), self._model)

    def _place_of(self, event: Event) -> int:
        """The place of an event's item in the answer. Servers that number no items (llama.cpp) name them instead."""
        name = event.item.get("id") if isinstance(event.item, dict) else event.item_id
        if event.output_index >= 0 or not isinstance(name, str):
            return event.output_index
        return self._places.setdefault(name, len(self._places))

    def _read_end(self, answer: Answer | None) -> None:
        if answer is not None:
            self._answer = answer
            self._model = whole_characters(answer.model or "") or self._model

    def _open(self, place: int, item: Any) -> None:
        if place in self._items:
            self.failure = TransportError(f"the service sent two items {place!r:.40} in one answer")
        elif isinstance(item, dict):
            self._items[place] = _Open(item)

    def _speak(self, event: Event) -> None:
        kind, block = _SPEAKS[event.type]
        opened = self._items.get(self._place_of(event))
        if not isinstance(opened, _Open) or opened.kind != kind or not isinstance(event.delta, str):
            # To leave out what grows no item of its kind would lose a piece of the answer without a word.
            self.failure = TransportError(f"the service sent a {event.type} for no {kind}")
            return
        place = event.summary_index if block == "summary_text" else event.content_index
        pieces = opened.blocks.get((block, place))
        if pieces is None:
            if kind == "reasoning" and opened.blocks:
                self._say(opened, neutral.BETWEEN_THOUGHTS)
            pieces = opened.blocks[block, place] = []
        pieces.append(event.delta)
        self._say(opened, opened.joiner.feed(event.delta))

    def _say(self, opened: _Open, words: str) -> None:
        opened.pieces.append(words)
        listener = self._listeners.on_chunk if opened.kind == "message" else self._listeners.on_thinking
        if words and listener is not None:
            listener(words)

    def _close(self, place: int, item: Any) -> None:
        opened = self._items.get(place)
        if isinstance(opened, tuple) or not isinstance(item, dict):
            self.failure = TransportError(f"the service ended item {place!r:.40} of its answer twice, or with nothing")
            return
        if opened is None:
            opened = _Open(item)
        if opened.kind == "function_call":
            item = opened.with_arguments(item)
        try:
            parts = neutral.parts(item, self._model, self._restore)
            words, shown_text = _words(parts), "".join(opened.pieces)
            if not words.startswith(shown_text):
                # The caller has heard it: what the session holds must not be another text.
                parts = neutral.parts(opened.in_its_words(item), self._model, self._restore)
                words = _words(parts)
        except ValueError:
            self._items[place] = ()
            self._malformed.append(unreadable(item))
            return
        self._items[place] = parts
        if opened.is_words:
            self._say(opened, words[len(shown_text) :])
        for part in parts:
            self._listeners.hear_call(part)

    def _end(self) -> None:
        """The response is over. Items that no event ended may stand, whole, in the response itself."""
        if (failure := self._answer.failure) is not None:
            self.failure = self._failed(failure)
            return
        none_came = not self._items
        for place, item in enumerate(self._answer.output or ()):
            if none_came or isinstance(self._items.get(place), _Open):
                self._close(place, item)
        self.complete = True
        if self._listeners.on_usage_update is not None and self._answer.usage is not None:
            self._listeners.on_usage_update(tokens(self._answer.usage))

    def _parts(self) -> Iterator[Part]:
        """What there is, in model order. An item that no event ended was cut off: text and readable reasoning lose
        nothing by that, a call does, and what had come of encrypted content is not to be sent back."""
        for _, item in sorted(self._items.items(), key=lambda each: each[0]):
            if isinstance(item, tuple):
                yield from item
            elif item.is_words:
                shell = {name: value for name, value in item.shell.items() if name != "encrypted_content"}
                yield from neutral.parts(item.in_its_words(shell), self._model, self._restore)


def _words(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts if isinstance(part, Text | Thought))


def read_answer(
    restore: Restore, failed: Callable[[Failure], ProviderError], answer: Answer, listeners: Listeners
) -> ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream.

    Raises the typed error of a response that failed under status 200, and TransportError for one without any output.
    """
    if (failure := answer.failure) is not None:
        raise failed(failure)
    if answer.output is None or not (answer.output or answer.status):
        raise TransportError("the service sent no output", status=200)
    model = whole_characters(answer.model or "")
    parts = parts_of_answer(
        answer.output,
        lambda item: neutral.parts(item, model, restore),
        unreadable,
        cut_off=answer.status == "incomplete",
    )
    response = to_response(answer, model, tuple(parts))
    listeners.hear_answer(parts, response.usage)
    return response


def to_response(answer: Answer, model: str, parts: tuple[Part, ...]) -> ProviderResponse:
    """A finished response that says this."""
    return ProviderResponse(
        parts=parts,
        usage=tokens(answer.usage),
        finish_reason=neutral.finish_reason(answer.ending, parts),
        raw_finish=answer.ending,
        model=model or None,
    )
