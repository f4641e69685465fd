"""The legacy path: the program holds the conversation, in a process that lives from call to call.

It is started by the first call, told the conversation that there is by then, and from then on only what is new. The
provider has a list of its own beside it. Where the process cannot be gone on with, because a call was cancelled or has
failed, or because the program would not wait for us or hold what the list does, it is ended, and the next call starts
another one, which is told the list.
"""

from __future__ import annotations

from functools import partial

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse, ToolSchema

from .._answers import Listeners
from .._calling import Prompt, Source
from .._legacy import OwnHistory
from ..anthropic.wire import Event
from .calling import ClaudeCliCalls, Request, Run
from .conversation import Conversation
from .program import SESSION_OPTIONS


class ClaudeCliLegacy(OwnHistory, ClaudeCliCalls):
    """A conversation with the program. One object holds one conversation and serves one thread at a time."""

    def __init__(self) -> None:
        self._live: Conversation | None = None
        self._run_of_it: Run | None = None
        super().__init__()

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        self._end()
        super()._begin(history, tools)

    def shutdown(self) -> None:
        """End the process, and remove what it has written. Calls made afterwards raise UsageError."""
        self._end()
        super().shutdown()

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        request = self._request(prompt)
        return self._answer(partial(self._ask, request), prompt, listeners, token)

    def _ask(self, request: Request) -> Source[Event]:
        """Have the process that holds the conversation go on with it, or start one."""
        run = self._run(request.limits, self._system, *SESSION_OPTIONS)
        live = self._live
        try:
            if live is not None and run == self._run_of_it and live.can_go_on_to(request.wire):
                live.go_on(request.wire)
            else:
                self._end()
                live = self._live = Conversation(self._start(run), run.model, self._tools)
                self._run_of_it = run
                live.begin(request.wire)
        except BaseException:
            self._end()
            raise
        return Source(live.events(), live.leave)

    def _end(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.end()
