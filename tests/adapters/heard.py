"""Callbacks that remember what they were told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turnproof.messages import FunctionCall, TokenUsage


class Heard:
    """Callbacks that remember what they were told, in order."""

    def __init__(self) -> None:
        self.said: list[tuple[str, Any]] = []
        self.usage: list[TokenUsage] = []

    @property
    def callbacks(self) -> dict[str, Callable[..., None]]:
        return {
            "on_chunk": lambda piece: self.said.append(("text", piece)),
            "on_thinking": lambda piece: self.said.append(("thinking", piece)),
            "on_function_call": lambda call: self.said.append(("call", call)),
            "on_usage_update": self.usage.append,
        }

    @property
    def text(self) -> str:
        return "".join(piece for kind, piece in self.said if kind == "text")

    @property
    def calls(self) -> list[FunctionCall]:
        return [call for kind, call in self.said if kind == "call"]

    @property
    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.said]
