"""The stateless path: every call is a fresh process that is told the whole conversation and keeps nothing of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse, Text, ToolSchema
from turnproof.provider import OnChunk, OnFunctionCall, OnThinking, OnUsage, SystemInstruction

from .._answers import Listeners
from .._calling import Source
from .._child import Child
from .._errors import scrubbed
from ..anthropic.assemble import Assembler
from ..anthropic.plainly import arranged
from ..anthropic.wire import Event
from .lifecycle import ClaudeCliProvider
from .pipe import Pipe
from .program import ONE_ANSWER
from .talk import Talk
from .tools import restorer


class ClaudeCliStateless(ClaudeCliProvider):
    """`complete()` over the program. One object serves any number of conversations and threads."""

    def complete(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        *,
        response_schema: Mapping[str, Any] | None = None,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
    ) -> ProviderResponse:
        """Answer the conversation, streaming if `on_chunk` is given, with the guarantees of `StatelessProvider`."""
        if cancel_token is not None:
            cancel_token.raise_if_cancelled()
        if response_schema is not None:
            raise InvalidRequestError(f"{self.name} does not heed a response schema")
        settings = self._settings()
        arrangement = arranged(messages, self.service, settings.model)
        think = settings.thinks_before(loop_lacks_thinking=arrangement.loop_lacks_thinking)
        wire, limits = arrangement.finish(), settings.kwargs(None, None, None, think=think)
        if wire[-1]["role"] != "user":
            raise InvalidRequestError("the conversation ends with the model's own words, and nothing is asked of it")
        system = system_instruction.text if isinstance(system_instruction, Text) else system_instruction or ""
        ask = partial(self._ask, wire, limits, system, tuple(tools or ()))
        restore = restorer(messages, tools)
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        if on_chunk is not None:
            assembler = Assembler(self.service, restore, listeners, self._failed)
            return self._calls.streamed(ask, assembler, cancel_token)

        def read(events: list[Event], listeners: Listeners) -> ProviderResponse:
            assembler = Assembler(self.service, restore, listeners, self._failed)
            for event in events:
                assembler.feed(event)
            return assembler.response()

        return self._calls.whole(lambda: _all(ask()), read, listeners, cancel_token)

    def _ask(
        self, wire: Sequence[dict[str, Any]], limits: Mapping[str, Any], system: str, tools: Sequence[ToolSchema]
    ) -> Source[Event]:
        """Start a process, tell it the conversation, and ask for an answer to its last message."""
        program, model = self._opened(), str(limits["model"])
        child = Child(
            program.command(model, system, *ONE_ANSWER),
            environment=program.environment(limits["max_tokens"], limits.get("thinking")),
            folder=program.folder,
            silence=self._silence,
            scrub=partial(scrubbed, secret=program.api_key),
        )
        try:
            talk = Talk(Pipe(child, program.api_key), model, tools)
            talk.open()
            for message in wire[:-1]:
                talk.tell(message)
            talk.ask(wire[-1])
        except BaseException:
            child.end(grace=0)
            raise
        return Source(talk.events(), partial(_hang_up, child))


def _all(source: Source[Event]) -> list[Event]:
    try:
        return list(source.events)
    finally:
        source.close()


def _hang_up(child: Child) -> None:
    # The answer is there: what the program would do with it is of no interest, and nothing of it is kept.
    child.end(grace=0)
