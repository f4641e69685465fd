"""The types of what a call takes: paths, instructions, tools in their order, and callbacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from ..cancel import CancelToken
from ..messages import FunctionCall, Text, TokenUsage, ToolSchema

Path: TypeAlias = Literal["stateless", "legacy"]

PATHS: tuple[Path, Path] = ("stateless", "legacy")
"""Both, in the order in which they are run and reported."""

SystemInstruction: TypeAlias = str | Text | None
"""System text; a `Text` where it carries a cache mark."""


def system_text(instruction: SystemInstruction) -> str:
    """The system text itself; empty where there is none."""
    return instruction.text if isinstance(instruction, Text) else instruction or ""


def tools_by_name(tools: Iterable[ToolSchema] | None) -> list[ToolSchema]:
    """The tools in the order in which they are sent: the same ones in another order would miss the prefix cache."""
    return sorted(tools or (), key=lambda tool: tool.name)


JSONSchema: TypeAlias = Mapping[str, Any]
OnChunk: TypeAlias = Callable[[str], None]
OnUsage: TypeAlias = Callable[[TokenUsage], None]
OnFunctionCall: TypeAlias = Callable[[FunctionCall], None]
OnThinking: TypeAlias = Callable[[str], None]


class StreamOptions(TypedDict, total=False):
    """The keyword arguments of a call that streams: each may be left out, and None counts as left out."""

    cancel_token: CancelToken | None
    on_usage_update: OnUsage | None
    on_function_call: OnFunctionCall | None
    on_thinking: OnThinking | None
    response_schema: JSONSchema | None


class CallOptions(StreamOptions, total=False):
    """The keyword arguments of a call that streams if it gets `on_chunk`."""

    on_chunk: OnChunk | None
