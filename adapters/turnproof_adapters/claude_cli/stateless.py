"""The stateless path: every call is a fresh process that is told the whole conversation and keeps nothing of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse, ToolSchema
from turnproof.provider import OnChunk, OnFunctionCall, OnThinking, OnUsage, SystemInstruction

from .._answers import Listeners
from .._calling import Source
from .._child_process import Child
from ..anthropic.wire import Event
from .calling import ClaudeCliCalls, Request
from .program import ONE_ANSWER
from .program_run import ProgramRun


class ClaudeCliStateless(ClaudeCliCalls):
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
        request = self._request(messages, response_schema)
        ask = partial(self._ask, request, system_instruction, tuple(tools or ()))
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        return self._answer(ask, messages, tools, listeners, cancel_token)

    def _ask(self, request: Request, system: SystemInstruction, tools: Sequence[ToolSchema]) -> Source[Event]:
        """Start a process, tell it the conversation, and ask for an answer to its last message."""
        run = self._run(request.limits, system, *ONE_ANSWER)
        pipe = self._start(run)
        try:
            talk = ProgramRun(pipe, run.model, tools)
            talk.begin(request.wire)
        except BaseException:
            pipe.child.end(grace=0)
            raise
        return Source(talk.events(), partial(_hang_up, pipe.child))


def _hang_up(child: Child) -> None:
    # The answer is there: what the program would do with it is of no interest, and nothing of it is kept.
    child.end(grace=0)
