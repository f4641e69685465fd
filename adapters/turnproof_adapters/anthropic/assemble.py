"""A stream's events become an answer, and callbacks hear of it on the way.

`Assembler` is a plain state machine: it knows nothing of sockets, so it can be stopped after any event and asked what
had arrived. Order is the model's own. A call is announced once, when its arguments are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from turnproof.errors import ProviderError, TransportError
from turnproof.messages import Part, ProviderResponse, Text, Thought, TokenUsage

from .._answers import Listeners, cancelled_response, highest_usage, stands_alone
from .._characters import Joiner, whole_characters
from .._decoding import decode_arguments
from . import parts as neutral
from .service import Service
from .usage import NOTHING, tokens, updated
from .wire import Answer, Delta, Event, Failure, Usage

_GROWS_BY = {"text": "text_delta", "thinking": "thinking_delta"}
"""What the blocks of words grow by; any other block, by pieces of its input if at all."""

_GROWING = frozenset({*_GROWS_BY.values(), "input_json_delta"})


@dataclass(slots=True)
class _Open:
    """A block that is still growing: its shell from the start event, and the pieces that came since.

    `kind` is its type, as far as it says one, and `grows_by` the deltas that it takes. One that `is_words` is shown as
    it grows, and makes sense without its end.
    """

    shell: dict[str, Any]
    listener: Callable[[str], None] | None = None
    pieces: list[str] = field(default_factory=list)
    citations: list[dict[str, Any]] = field(default_factory=list)
    joiner: Joiner = field(default_factory=Joiner)
    kind: str = field(init=False)
    grows_by: str = field(init=False)
    is_words: bool = field(init=False)

    def __post_init__(self) -> None:
        kind = self.shell.get("type")
        self.kind = kind if isinstance(kind, str) else ""
        self.grows_by = _GROWS_BY.get(self.kind, "input_json_delta")
        self.is_words = self.kind in _GROWS_BY

    def block(self) -> dict[str, Any]:
        """The block as a batch answer would have shown it. Raises ValueError for arguments that are not JSON."""
        block = dict(self.shell)
        content = "".join(self.pieces)
        if self.is_words:
            block[self.kind] = content
        elif content:
            block["input"] = decode_arguments(content)
        if self.citations:
            first_citations = block.get("citations")
            block["citations"] = [*(first_citations if isinstance(first_citations, list) else ()), *self.citations]
        return block


class Assembler:
    """Feed it events in order. `complete` turns true with the end marker, without which no stream is whole."""

    def __init__(
        self,
        service: Service,
        restore: neutral.Restore,
        listeners: Listeners,
        failed: Callable[[Failure], ProviderError],
    ) -> None:
        self.complete = False
        self.failure: ProviderError | None = None
        self._service = service
        self._failed = failed
        self._restore = restore
        self._listeners = listeners
        self._model = ""
        self._stop_reason: str | None = None
        self._usage: Usage = NOTHING
        self._shown = TokenUsage()
        self._blocks: dict[int, _Open | Part | None] = {}
        self._malformed: list[str] = []

    def feed(self, event: Event) -> None:
        """Take one event. Kinds that are not known, and pings, change nothing, nor does what follows the end marker."""
        if self.complete:
            return
        match event.type:
            case "content_block_delta":
                if event.delta is not None:
                    self._delta(event.index, event.delta)
            case "content_block_start":
                if event.content_block is not None:
                    self._start(event.index, event.content_block)
            case "content_block_stop":
                self._stop(event.index)
            case "message_start":
                if event.message is not None:
                    self._model = whole_characters(event.message.model)
                    self._count(event.message.usage)
            case "message_delta":
                if event.delta is not None:
                    self._stop_reason = event.delta.stop_reason or self._stop_reason
                self._count(event.usage)
            case "message_stop":
                self.complete = True
            case "error":
                self.failure = self._failed(event.error or Failure())

    def _start(self, index: int, shell: dict[str, Any]) -> None:
        if index in self._blocks:
            self.failure = TransportError(f"the service sent two blocks {index!r:.40} in one answer")
            return
        listener = self._listeners.on_chunk if shell.get("type") == "text" else self._listeners.on_thinking
        block = self._blocks[index] = _Open(shell, listener)
        if block.is_words:
            words = shell.get(block.kind) or ""
            if isinstance(words, str):
                self._show(block, block.joiner.feed(words))
            else:
                self.failure = TransportError(f"the service sent a {block.kind} block of {type(words).__name__}")

    def response(self) -> ProviderResponse:
        """The finished answer. Raises TransportError if a call that was not cut has malformed arguments, or no end."""
        if self._stop_reason not in neutral.CLIPPING:
            if self._malformed:
                raise TransportError(f"the service sent malformed arguments for a call of {self._malformed[0]}")
            for index, block in self._blocks.items():
                if isinstance(block, _Open) and not block.is_words:
                    raise TransportError(f"the service did not end block {index!r:.40} of its answer")
        return ProviderResponse(
            parts=tuple(self._parts()),
            usage=tokens(self._usage),
            finish_reason=neutral.finish_reason(self._stop_reason),
            raw_finish=self._stop_reason,
            model=self._model or None,
        )

    def cancelled(self) -> ProviderResponse:
        """What had arrived: text, and thinking whose signature had come. Never a call."""
        return cancelled_response(filter(stands_alone, self._parts()), tokens(self._usage), self._model)

    def _delta(self, index: int, delta: Delta) -> None:
        block = self._blocks.get(index)
        if not isinstance(block, _Open):
            if delta.type in _GROWING:
                self._misplaced(index, delta, "no block")
            return
        match delta.type:
            case block.grows_by if block.is_words:
                self._show(block, block.joiner.feed((delta.text if block.kind == "text" else delta.thinking) or ""))
            case block.grows_by:
                block.pieces.append(delta.partial_json or "")
            case "text_delta" | "thinking_delta" | "input_json_delta":
                self._misplaced(index, delta, f"a {block.kind!r:.80} block")
            case "signature_delta":
                if delta.signature:
                    block.shell = {**block.shell, "signature": delta.signature}
            case "citations_delta":
                if delta.citation is not None:
                    block.citations.append(delta.citation)
            case "compaction_delta":
                block.shell = {**block.shell, "content": delta.content}

    def _misplaced(self, index: int, delta: Delta, where: str) -> None:
        """To leave out what grows no block of its kind would lose a piece of the answer without a word."""
        self.failure = TransportError(f"the service sent a {delta.type} for {where}, at index {index!r:.40}")

    def _show(self, block: _Open, words: str) -> None:
        block.pieces.append(words)
        if words and block.listener is not None:
            block.listener(words)

    def _stop(self, index: int) -> None:
        block = self._blocks.get(index)
        if not isinstance(block, _Open):
            return
        if block.is_words:
            self._show(block, block.joiner.rest())
        try:
            part = self._blocks[index] = self._part(block)
        except ValueError:
            self._blocks[index] = None
            self._malformed.append(f"{block.shell.get('name')!r:.80}")
            return
        if part is not None:
            self._listeners.hear_call(part)

    def _count(self, usage: Usage | None) -> None:
        if usage is None:
            return
        self._usage = updated(self._usage, usage)
        self._shown = highest_usage(self._shown, tokens(self._usage))
        if self._listeners.on_usage_update is not None:
            self._listeners.on_usage_update(self._shown)

    def _part(self, block: _Open) -> Part | None:
        return neutral.part(block.block(), self._service, self._model, self._restore)

    def _parts(self) -> Iterator[Part]:
        """What there is, in model order. A block that no stop event ended was cut off: text and thinking lose nothing
        by that, a call does."""
        for block in self._blocks.values():
            if isinstance(block, _Open):
                try:
                    part = self._part(block)
                except ValueError:
                    continue
                if isinstance(part, Thought) and not block.shell.get("signature"):
                    # Nobody can tell whether it is whole: it does not go back.
                    yield Thought(part.text)
                elif isinstance(part, Text | Thought):
                    yield part
            elif block is not None:
                yield block


def read_answer(service: Service, restore: neutral.Restore, answer: Answer, listeners: Listeners) -> ProviderResponse:
    """A batch answer as a response; the callbacks hear of it in model order, like those of a stream."""
    model = whole_characters(answer.model)
    parts: list[Part] = []
    for block in answer.content or ():
        try:
            part = neutral.part(block, service, model, restore)
        except ValueError:
            name = f"{block.get('name')!r:.80}"
            raise TransportError(f"the service sent malformed arguments for a call of {name}") from None
        if part is not None:
            parts.append(part)
    whole_parts = neutral.without_clipped_call(tuple(parts), answer.stop_reason)
    usage = tokens(answer.usage or NOTHING)
    listeners.hear_answer(whole_parts, usage)
    return ProviderResponse(
        parts=whole_parts,
        usage=usage,
        finish_reason=neutral.finish_reason(answer.stop_reason),
        raw_finish=answer.stop_reason,
        model=model or None,
    )
