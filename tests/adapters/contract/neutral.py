"""Calls and results as tests of several adapters hold them, and callbacks that they say nothing of."""

from __future__ import annotations

from typing import Any

from turnproof.messages import FunctionCall, ToolResult


def call(call_id: str = "call_1", name: str = "read", **args: Any) -> FunctionCall:
    return FunctionCall(call_id, name, args)


def result(call_id: str = "call_1", value: Any = "ok", **kwargs: Any) -> ToolResult:
    return ToolResult(call_id, "read", value, **kwargs)


def unheard(piece: str) -> None:
    """A callback for tests of which it says nothing."""


STREAMED: dict[str, Any] = {"on_chunk": unheard}
