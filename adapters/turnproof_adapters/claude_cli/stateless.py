"""The stateless path: every call is a fresh process that is told the whole conversation and keeps nothing of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse, ToolSchema
from turnproof.provider import SystemInstruction

from .._answers import Listeners
from .._calling import Prompt, Source
from .._child_process import Child
from .._stateless import StatelessCalls
from ..anthropic.wire import Event
from .calling import ClaudeCliCalls, Request
from .program import ONE_ANSWER
from .program_run import ProgramRun


class ClaudeCliStateless(StatelessCalls, ClaudeCliCalls):
    """`complete()` over the program. One object serves any number of conversations and threads."""

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        request = self._request(prompt)
        ask = partial(self._ask, request, prompt.system, tuple(prompt.tools or ()))
        return self._answer(ask, prompt, listeners, token)

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
