"""Bindings that claim little of what their adapters can do: the smallest one of the docs, and smaller ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from turnproof.provider import Binding, Capabilities
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE_GENAI
from turnproof_adapters.openai.binding import BINDING as OPENAI


def _claiming(binding: Binding, name: str, **claims: Any) -> Binding:
    return replace(binding, name=name, capabilities=Capabilities(**claims), declared=())


OPENAI_STREAM_TOOLS = _claiming(OPENAI, "openai_stream_tools", streaming=True, tools=True)
OPENAI_TOOLS = _claiming(OPENAI, "openai_tools", tools=True)
OPENAI_STREAM = _claiming(OPENAI, "openai_stream", streaming=True)
OPENAI_NOTHING = _claiming(OPENAI, "openai_nothing")
ANTHROPIC_STREAM_TOOLS = _claiming(ANTHROPIC, "anthropic_stream_tools", streaming=True, tools=True)
ANTHROPIC_TOOLS = _claiming(ANTHROPIC, "anthropic_tools", tools=True)
ANTHROPIC_NOTHING = _claiming(ANTHROPIC, "anthropic_nothing")
GOOGLE_STREAM_TOOLS = _claiming(GOOGLE_GENAI, "google_stream_tools", streaming=True, tools=True)
GOOGLE_TOOLS = _claiming(GOOGLE_GENAI, "google_tools", tools=True)
GOOGLE_NOTHING = _claiming(GOOGLE_GENAI, "google_nothing")

NAMES = sorted(
    name for name, value in globals().items() if isinstance(value, Binding) and name.endswith(("S", "M", "G"))
)
