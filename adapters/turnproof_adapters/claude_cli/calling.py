"""What a call is on both paths: what the program is run with, and what is made of the answer it passes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import ProviderResponse
from turnproof.provider import SystemInstruction, system_text

from .._answers import Listeners
from .._calling import Prompt, Source
from .._child_process import Child
from .._errors import hide_secret
from ..anthropic.assemble import Assembler
from ..anthropic.plain_conversation import arrange_messages
from ..anthropic.wire import Event
from .lifecycle import ClaudeCliProvider
from .pipe import Pipe
from .tools import restorer


@dataclass(frozen=True, slots=True)
class Run:
    """How the program is started. Two runs that are equal differ in nothing but what they are told."""

    model: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)  # with the key


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation as it goes over the wire, ending in what is to be answered, and the limits of the answer."""

    wire: Sequence[dict[str, Any]]
    limits: Mapping[str, Any]


class ClaudeCliCalls(ClaudeCliProvider):
    """What calls of both paths have in common."""

    def _request(self, prompt: Prompt) -> Request:
        """Raises InvalidRequestError for what cannot be sent, or asks nothing."""
        if prompt.response_schema is not None:
            raise InvalidRequestError(f"{self.name} does not heed a response schema")
        settings = self._settings()
        arrangement = arrange_messages(prompt.messages, self.service, settings.model)
        think = settings.thinks_before(loop_lacks_thinking=arrangement.loop_lacks_thinking)
        wire, limits = arrangement.finish(), settings.kwargs(Prompt(()), think=think)
        if wire[-1]["role"] != "user":
            raise InvalidRequestError("the conversation ends with the model's own words, and nothing is asked of it")
        return Request(wire, limits)

    def _run(self, limits: Mapping[str, Any], system: SystemInstruction, *flags: str) -> Run:
        program, model = self._require_client(), str(limits["model"])
        text = system_text(system)
        environment = program.environment(limits["max_tokens"], limits.get("thinking"))
        return Run(model, tuple(program.command(model, text, *flags)), environment)

    def _start(self, run: Run) -> Pipe:
        """Start the program. Raises UsageError where it cannot be run."""
        program = self._require_client()
        child = Child(
            run.command,
            environment=run.environment,
            folder=program.folder,
            silence=self._silence,
            scrub=partial(hide_secret, secret=program.api_key),
        )
        return Pipe(child, program.api_key)

    def _answer(
        self, ask: Callable[[], Source[Event]], prompt: Prompt, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """The answer to the prompt, streaming if there is an `on_chunk`."""
        restore = restorer(prompt.messages, prompt.tools)
        if listeners.on_chunk is not None:
            return self._calls.call_stream(ask, Assembler(self.service, restore, listeners, self._failed), token)

        def read(events: list[Event], listeners: Listeners) -> ProviderResponse:
            assembler = Assembler(self.service, restore, listeners, self._failed)
            for event in events:
                assembler.feed(event)
            return assembler.response()

        return self._calls.call_batch(lambda: _all(ask()), read, listeners, token)


def _all(source: Source[Event]) -> list[Event]:
    try:
        return list(source.events)
    finally:
        source.close()
