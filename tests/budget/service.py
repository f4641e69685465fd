"""A provider service in memory: what a real adapter sends is read, judged and counted as the emulator does it.

Stands where a session expects a provider. No socket: what is looked at is the body, which is the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import adapters.anthropic.kit as anthropic
import adapters.google_genai.kit as google

from turnproof.dialects import dialect
from turnproof.dialects.base import Call, HttpRequest, World
from turnproof.errors import ContextLimitError
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, TokenUsage
from turnproof.tokens import part_tokens

SERVICES: dict[str, tuple[Any, str]] = {
    "anthropic-messages": (anthropic, anthropic.MODEL),
    "gemini": (google, "gemini-2.5-flash"),
}


@dataclass
class Service:
    """Answers each call with the next of `answers`, and with figures of its own; or refuses what is above `window`.

    `names_limits` says whether a refusal names the limit and what was asked for. `counts` are the tokens of the
    prompts that were accepted, `refused` of those that were not.
    """

    name: str
    answers: list[Message] = field(default_factory=list)
    window: int | None = None
    names_limits: bool = True
    counts: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    sent: list[list[Message]] = field(default_factory=list)

    def __post_init__(self) -> None:
        kit, model = SERVICES[self.name]
        self._dialect = dialect(self.name)
        self._world = World.with_any_key(self._dialect.models)
        self._capture: Any = kit.Capture()
        self._adapter: Any = kit.stateless("http://example.invalid", model, transport=self._capture.transport)

    def complete(
        self, messages: Sequence[Message], system_instruction: Any = None, tools: Any = None, **kwargs: Any
    ) -> ProviderResponse:
        """Have the adapter send the request, and answer it."""
        self.sent.append(list(messages))
        self._adapter.complete(messages, system_instruction, tools)
        prompt = self._count()
        if self.window is not None and prompt > self.window:
            self.refused.append(prompt)
            if not self.names_limits:
                raise ContextLimitError("too long")
            raise ContextLimitError("too long", limit=self.window, requested=prompt)
        self.counts.append(prompt)
        answer = self.answers.pop(0)
        output = sum(part_tokens(part) for part in answer.parts)
        finish = FinishReason.TOOL_USE if answer.calls else FinishReason.STOP
        return ProviderResponse(answer.parts, TokenUsage(prompt, output, prompt + output), finish)

    def _count(self) -> int:
        http = self._capture.requests[-1]
        request = HttpRequest(http.method, http.url.path, dict(http.url.params), dict(http.headers), http.content)
        call = self._dialect.parse(request, self._world)
        assert isinstance(call, Call), call
        refusals = self._dialect.validate(request, call, self._world)
        assert [each for each in refusals if each.enforced] == []
        return self._dialect.count(call)


def calls(*ids: str, **args: Any) -> Message:
    """An answer that calls the tool `look`, once for each id."""
    return Message.model(*(FunctionCall(id, "look", args) for id in ids))
