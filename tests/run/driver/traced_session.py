"""The framework of `framework.py` with spans in its own manner, bound as a session.

The manner is not the reference session's: each attempt has a span, the span of the turn names no operation, exceptions
are recorded as the API does it by default, and nobody knows of a provider that turnproof opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from opentelemetry.trace import SpanKind, StatusCode, Tracer

from turnproof.subject import SessionSetup

from .foreign_session import FOREIGN, Handle
from .framework import Chat, ChatError, Line


class TracedChat(Chat):
    """A chat that says what it does."""

    tracer: Tracer

    def say(self, text: str, show: Callable[[str], object] | None = None) -> str:
        with self.tracer.start_as_current_span("Chat.say"):
            return super().say(text, show)

    def _request(self, show: Callable[[str], object] | None) -> Line:
        attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.system": "anthropic"}
        attributes["gen_ai.request.model"] = self.model
        with self.tracer.start_as_current_span(f"chat {self.model}", None, SpanKind.CLIENT, attributes) as span:
            self.tokens = (0, 0, 0)
            try:
                line = super()._request(show)
            except ChatError as error:
                span.set_attribute("error.type", str(error.status or "unreachable"))
                raise
            if any(self.tokens) and not self.halted:
                span.set_attribute("gen_ai.usage.input_tokens", self.tokens[0])
                span.set_attribute("gen_ai.usage.output_tokens", self.tokens[1])
            return line

    def _run(self, call: dict[str, Any]) -> dict[str, Any]:
        with self.tracer.start_as_current_span(f"execute_tool {call['name']}") as span:
            span.set_attributes({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call["name"]})
            result = super()._run(call)
            if result["failed"] and not self.halted:
                span.set_attribute("error.type", "failed")
                span.set_status(StatusCode.ERROR)
            return result


class TracedHandle(Handle):
    """A traced chat with the token of the turn that runs."""

    def __init__(self, setup: SessionSetup) -> None:
        super().__init__(setup)
        assert setup.tracer_provider is not None
        chat = TracedChat(self.chat.url, self.chat.key, self.chat.model, tries=setup.attempts, nap=self.nap)
        chat.instructions, chat.functions = self.chat.instructions, self.chat.functions
        chat.tracer = setup.tracer_provider.get_tracer("framework")
        self.chat = chat


def load(setup: SessionSetup, saved: str) -> TracedHandle:
    handle = TracedHandle(setup)
    handle.chat.restore(saved)
    return handle


TRACED = replace(FOREIGN, name="traced-framework", open=TracedHandle, load=load, spans=True)
