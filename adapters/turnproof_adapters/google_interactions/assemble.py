"""A stream's events become an answer, and callbacks hear of it on the way.

`Assembler` is a plain state machine: it knows nothing of sockets, so it can be stopped after any event and asked what
had arrived. A call is announced once, when its step ends: until then its arguments are not whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from turnproof.errors import ProviderError, TransportError
from turnproof.messages import Part, ProviderResponse, TokenUsage

from .._answer_items import ItemsAssembler, OpenItem, Restore, parts_of_answer, refuse_unfinished
from .._answers import Listeners, cancelled_response, highest_usage, stands_alone
from .._characters import whole_characters
from .._decoding import decode_arguments
from . import parts as neutral
from .wire import Event, Failure, Interaction, Usage, tokens

_PIECES = ("text", "thought_summary", "thought_signature", "arguments_delta")
"""Deltas that are pieces of a text, a thought or a call, and need an open step of that kind."""


@dataclass(slots=True)
class _Open(OpenItem):
    """A step that is still growing."""

    spoken_kinds = ("model_output", "thought")

    contents: list[dict[str, Any]] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    signature: str = ""

    def add_text(self, text: str) -> None:
        """A piece of text: it goes on with the text before it, where that was the last content."""
        if self.contents and self.contents[-1].get("type") == "text":
            self.contents[-1]["text"] += text
        else:
            self.contents.append({"type": "text", "text": text})

    def step(self) -> dict[str, Any]:
        """The step as it is now. Raises ValueError for a call whose arguments are no JSON."""
        match self.kind:
            case "model_output":
                return {**self.shell, "content": [*(self.shell.get("content") or ()), *self.contents]}
            case "thought":
                summary = [{"type": "text", "text": "".join(self.summary)}] if self.summary else []
                whole = {**self.shell, "summary": [*(self.shell.get("summary") or ()), *summary]}
                return whole | ({"signature": self.signature} if self.signature else {})
            case "function_call" if text := "".join(self.arguments).strip():
                return {**self.shell, "arguments": decode_arguments(text)}
            case "function_call":
                return {"arguments": {}, **self.shell}
            case _:
                return self.shell


class Assembler(ItemsAssembler[Failure]):
    """Feed it events in order. `complete` turns true with the event that ends the interaction."""

    def __init__(self, restore: Restore, listeners: Listeners, failed: Callable[[Failure], ProviderError]) -> None:
        super().__init__(restore, listeners, failed)
        self._interaction = Interaction()
        self._usage: Usage | None = None
        self._shown = TokenUsage()
        self._steps: dict[int, _Open | tuple[Part, ...]] = {}

    def feed(self, event: Event) -> None:
        """Take one event. Kinds that are not known change nothing, nor does what follows the end."""
        if self.complete:
            return
        if event.error is not None:
            self.failure = self._failed(event.error)
            return
        match event.event_type:
            case "step.start":
                self._open(event.index, event.step)
            case "step.delta":
                self._grow(event.index, event.delta)
            case "step.stop":
                self._close(event.index)
            case "interaction.created" | "interaction.completed" if event.interaction is not None:
                self._interaction = event.interaction
                self._model = whole_characters(event.interaction.model or "") or self._model
        self._count(event.usage)
        if event.event_type == "interaction.completed":
            self._end()

    def response(self) -> ProviderResponse:
        """The finished answer. Raises TransportError if a call that was not cut is malformed or was never ended."""
        if self._interaction.status != "incomplete":
            refuse_unfinished(self._malformed, self._steps, "step")
        return to_response(self._interaction, self._usage, self._model, tuple(self._parts()))

    def cancelled(self) -> ProviderResponse:
        """What had arrived: text, and thoughts whose signature had come. Never a call."""
        return cancelled_response(filter(stands_alone, self._parts()), tokens(self._usage), self._model)

    def _count(self, usage: Usage | None) -> None:
        if usage is None:
            return
        self._usage = usage
        now = highest_usage(self._shown, tokens(usage))
        if now != self._shown and self._listeners.on_usage_update is not None:
            self._shown = now
            self._listeners.on_usage_update(now)

    def _open(self, place: int, step: Any) -> None:
        if place in self._steps:
            self.failure = TransportError(f"the service sent two steps {place!r:.40} in one answer")
        elif isinstance(step, dict):
            self._steps[place] = _Open(dict(step))

    def _grow(self, place: int, delta: Any) -> None:
        opened = self._steps.get(place)
        if not isinstance(delta, dict):
            return
        if not isinstance(opened, _Open):
            self._without_step(delta)
            return
        match opened.kind, delta:
            case "model_output", {"type": "text", "text": str(text)}:
                opened.add_text(text)
                self._say(opened, opened.joiner.feed(text))
            case "thought", {"type": "thought_summary", "content": {"text": str(text)}}:
                opened.summary.append(text)
                self._say(opened, opened.joiner.feed(text))
            case "thought", {"type": "thought_signature", "signature": str(signature)}:
                # Recorded: empty ones come between the pieces of a summary, and the whole one at the end.
                opened.signature = signature or opened.signature
            case "function_call", {"type": "arguments_delta", "arguments": str(text)}:
                opened.arguments.append(text)
            case _, {"type": str(kind)} if kind in _PIECES:
                self._without_step(delta)
            case "model_output", {"type": "text_annotation_delta", "annotations": list(annotations)}:
                if opened.contents:
                    opened.contents[-1].setdefault("annotations", []).extend(annotations)
            case "model_output", {"type": str()}:
                opened.contents.append(dict(delta))
            case _, {"type": str()}:
                opened.shell |= {name: value for name, value in delta.items() if name != "type"}

    def _without_step(self, delta: dict[str, Any]) -> None:
        """Fail the answer for a piece of text, thought or call that belongs to no open step: it must not be lost."""
        if (kind := delta.get("type")) in _PIECES:
            self.failure = TransportError(f"the service sent a {kind} for no step of its kind")

    def _say(self, opened: _Open, words: str) -> None:
        listener = self._listeners.on_chunk if opened.kind == "model_output" else self._listeners.on_thinking
        if words and listener is not None:
            listener(words)

    def _close(self, place: int) -> None:
        opened = self._steps.get(place)
        if not isinstance(opened, _Open):
            self.failure = TransportError(
                f"the service ended step {place!r:.40} of its answer twice, or never began it"
            )
            return
        try:
            parts = neutral.parts(opened.step(), self._model, self._restore)
        except ValueError:
            self._steps[place] = ()
            self._malformed.append(neutral.unreadable(opened.shell))
            return
        self._steps[place] = parts
        self._say(opened, opened.joiner.rest())
        for part in parts:
            self._listeners.hear_call(part)

    def _end(self) -> None:
        if (failure := self._interaction.failure) is not None:
            self.failure = self._failed(failure)
            return
        self.complete = True

    def _parts(self) -> Iterator[Part]:
        """What there is, in model order. A step that no event ended was cut off: text and a readable summary lose
        nothing by that, a call does."""
        for _, step in sorted(self._steps.items(), key=lambda each: each[0]):
            if isinstance(step, tuple):
                yield from step
            elif step.is_words:
                yield from neutral.parts(step.step(), self._model, self._restore)


def read_answer(
    restore: Restore, failed: Callable[[Failure], ProviderError], interaction: Interaction, listeners: Listeners
) -> ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream.

    Raises the typed error of an interaction that failed under status 200, and TransportError for one without steps.
    """
    if (failure := interaction.failure) is not None:
        raise failed(failure)
    if interaction.steps is None and not interaction.status:
        raise TransportError("the service sent no interaction", status=200)
    model = whole_characters(interaction.model or "")
    parts = parts_of_answer(
        interaction.steps or (),
        lambda step: neutral.parts(step, model, restore),
        neutral.unreadable,
        cut_off=interaction.status == "incomplete",
    )
    response = to_response(interaction, interaction.usage, model, tuple(parts))
    listeners.hear_answer(parts, response.usage)
    return response


def to_response(interaction: Interaction, usage: Usage | None, model: str, parts: tuple[Part, ...]) -> ProviderResponse:
    """A finished response that says this."""
    return ProviderResponse(
        parts=parts,
        usage=tokens(usage),
        finish_reason=neutral.finish_reason(interaction.status, parts),
        raw_finish=interaction.status,
        model=model or None,
    )
