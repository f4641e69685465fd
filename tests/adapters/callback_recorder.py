"""Callbacks that record every call."""

from __future__ import annotations

from typing import Any

from turnproof.messages import FunctionCall, TokenUsage


class CallbackRecorder:
    """Callbacks that record every call, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Any]] = []
        self.usage: list[TokenUsage] = []

    @property
    def callbacks(self) -> dict[str, Any]:
        return {
            "on_chunk": lambda piece: self.events.append(("text", piece)),
            "on_thinking": lambda piece: self.events.append(("thinking", piece)),
            "on_function_call": lambda call: self.events.append(("call", call)),
            "on_usage_update": self.usage.append,
        }

    @property
    def text(self) -> str:
        return "".join(piece for kind, piece in self.events if kind == "text")

    @property
    def calls(self) -> list[FunctionCall]:
        return [call for kind, call in self.events if kind == "call"]

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.events]
