"""Freedoms of callbacks: how large the pieces of text and thoughts are, when usage is reported, and in which thread."""

from __future__ import annotations

import asyncio
import contextvars
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import SimpleQueue
from threading import Thread
from typing import Any

from turnproof.messages import ProviderResponse, TokenUsage

from ..mutants import Broken, CallInputs, Proceed
from ..mutants._broken import CallbackName
from ._right import right


def _one_by_one(callback: Callable[[Any], None]) -> Callable[[Any], None]:
    def pass_on(text: str) -> None:
        for character in text:
            callback(character)

    return pass_on


@right("chunks-by-character")
class _ChunksByCharacter(Broken):
    """`on_chunk` gets one character at a time, whatever pieces the service sent."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return super().change_inputs(inputs).with_callback("on_chunk", _one_by_one)


@right("thinking-by-character")
class _ThinkingByCharacter(Broken):
    """`on_thinking` gets one character at a time."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        return super().change_inputs(inputs).with_callback("on_thinking", _one_by_one)


class _PiecesCollected(Broken):
    """Hands pieces on when they are complete by `size_of`, and the rest before anything else of the answer."""

    callback: CallbackName = "on_chunk"

    def size_of(self, text: str) -> int:
        """How much of a text may be handed on by now, in characters."""
        return len(text)

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        inner = getattr(inputs, self.callback)
        if inner is None:
            return super().call(inputs, proceed)
        buffer = ""

        def gather(text: str) -> None:
            nonlocal buffer
            buffer += text
            if size := self.size_of(buffer):
                ready, buffer = buffer[:size], buffer[size:]
                inner(ready)

        def flush() -> None:
            nonlocal buffer
            if buffer:
                ready, buffer = buffer, ""
                inner(ready)

        def flushing(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            def pass_on(value: Any) -> None:
                flush()
                callback(value)

            return pass_on

        changed = inputs.with_callback(self.callback, lambda _: gather)
        for name in _CALLBACKS:
            if name not in (self.callback, "on_usage"):  # figures come with every piece at some APIs
                changed = changed.with_callback(name, flushing)
        try:
            return super().call(changed, proceed)
        finally:
            flush()


_CALLBACKS: tuple[CallbackName, ...] = ("on_chunk", "on_usage", "on_call", "on_thinking")
_WORD = re.compile(r".*\s", re.DOTALL)


def _whole_words(text: str) -> int:
    found = _WORD.match(text)
    return found.end() if found else 0


@right("chunks-by-word")
class _ChunksByWord(_PiecesCollected):
    """`on_chunk` gets whole words, each with the blank behind it, and what is left when the answer goes on."""

    def size_of(self, text: str) -> int:
        return _whole_words(text)


@right("chunks-gathered")
class _ChunksGathered(_PiecesCollected):
    """`on_chunk` gets twenty characters or more at a time, and what is left when the answer goes on."""

    def size_of(self, text: str) -> int:
        return len(text) if len(text) >= 20 else 0


@right("thinking-by-word")
class _ThinkingByWord(_PiecesCollected):
    """`on_thinking` gets whole words, and what is left when the answer goes on."""

    callback = "on_thinking"

    def size_of(self, text: str) -> int:
        return _whole_words(text)


@right("usage-once")
class _UsageOnce(Broken):
    """Token counts are reported once, at the end of the answer."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        updates: list[TokenUsage] = []
        response = self.change_response(inputs, proceed(inputs.with_callback("on_usage", lambda _: updates.append)))
        if updates and inputs.on_usage is not None:
            inputs.on_usage(updates[-1])
        return response


@right("usage-told-twice")
class _UsageToldTwice(Broken):
    """`on_usage_update` is called twice with the same counts. Each has the totals so far: nothing is added up."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        def twice(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            def pass_on(usage: Any) -> None:
                callback(usage)
                callback(usage)

            return pass_on

        return super().change_inputs(inputs).with_callback("on_usage", twice)


@right("usage-with-each-chunk")
class _UsageWithEachChunk(Broken):
    """The counts so far are reported again with each piece of text."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        tell, show = inputs.on_usage, inputs.on_chunk
        if tell is None or show is None:
            return super().call(inputs, proceed)
        latest: list[TokenUsage] = []

        def on_usage(usage: TokenUsage) -> None:
            latest[:] = [usage]
            tell(usage)

        def shown(text: str) -> None:
            show(text)
            for usage in latest:
                tell(usage)

        return super().call(replace(inputs, on_usage=on_usage, on_chunk=shown), proceed)


@right("calls-in-a-thread")
class _CallsInAThread(Broken):
    """Each call is made in a thread of its own, which ends with it; callbacks come from there."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        with ThreadPoolExecutor(max_workers=1) as executor:
            context = contextvars.copy_context()
            return self.change_response(inputs, executor.submit(context.run, proceed, inputs).result())


@right("calls-in-a-loop")
class _CallsInALoop(Broken):
    """Each call is made in an event loop of its own, in a thread, as an asynchronous client behind a blocking method
    does it."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        def run() -> ProviderResponse:
            return asyncio.run(_call_in_thread(proceed, inputs))

        with ThreadPoolExecutor(max_workers=1) as executor:
            context = contextvars.copy_context()
            return self.change_response(inputs, executor.submit(context.run, run).result())


async def _call_in_thread(proceed: Proceed, inputs: CallInputs) -> ProviderResponse:
    return await asyncio.to_thread(proceed, inputs)


@right("callbacks-through-a-queue")
class _CallbacksThroughAQueue(Broken):
    """All callbacks come from one thread, in their order, and all before the call returns or fails."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        queue: SimpleQueue[tuple[Callable[[Any], None], Any] | None] = SimpleQueue()

        def queued(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            return lambda value: queue.put((callback, value))

        def deliver() -> None:
            while (item := queue.get()) is not None:
                callback, value = item
                callback(value)

        changed = inputs
        for name in _CALLBACKS:
            changed = changed.with_callback(name, queued)
        thread = Thread(target=contextvars.copy_context().run, args=(deliver,))
        thread.start()
        try:
            return super().call(changed, proceed)
        finally:
            queue.put(None)
            thread.join()


@right("empty-chunks-too")
class _EmptyChunksToo(Broken):
    """`on_chunk` gets an empty text before each piece, as a library hands on events that have none."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        def with_empty(callback: Callable[[Any], None]) -> Callable[[Any], None]:
            def pass_on(text: str) -> None:
                callback("")
                callback(text)

            return pass_on

        return super().change_inputs(inputs).with_callback("on_chunk", with_empty)


@right("calls-announced-at-the-end")
class _CallsAnnouncedAtTheEnd(Broken):
    """`on_function_call` gets the calls when the answer is complete, in their order, as a library adds them up then."""

    def call(self, inputs: CallInputs, proceed: Proceed) -> ProviderResponse:
        if inputs.on_call is None:
            return super().call(inputs, proceed)
        calls: list[Any] = []
        response = super().call(inputs.with_callback("on_call", lambda _: calls.append), proceed)
        for call in calls:
            inputs.on_call(call)
        return response


@right("thinking-in-one-piece")
class _ThinkingInOnePiece(_PiecesCollected):
    """`on_thinking` gets all that the model thought at once, when the answer goes on."""

    callback = "on_thinking"

    def size_of(self, text: str) -> int:
        return 0
