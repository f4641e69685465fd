"""What stands around the steps of a request: model, limits, thinking, output format, system text and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.errors import UsageError

from .._calling import Prompt
from . import convert

_LEVELS = ("minimal", "low", "medium", "high")


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of a request that the provider is configured with."""

    model: str
    max_tokens: int | None = None
    thinking: Mapping[str, Any] | None = None

    def fields(self, prompt: Prompt, *, store: bool) -> dict[str, Any]:
        """Everything but `model`, `input` and `stream`. None of it carries over from one interaction to the next."""
        fields: dict[str, Any] = {"store": store}
        if (instruction := convert.system(prompt.system)) is not None:
            fields["system_instruction"] = instruction
        generation = dict(self.thinking or {})
        if self.max_tokens is not None:
            generation["max_output_tokens"] = self.max_tokens
        if generation:
            fields["generation_config"] = generation
        if prompt.response_schema is not None:
            fields["response_format"] = convert.response_format(prompt.response_schema)
        if prompt.tools:
            fields["tools"] = convert.tools(prompt.tools)
        return fields


def thinking_config(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A thinking configuration in the API's form; None leaves it to the model, unseen.

    Takes `{"level": "low"}`, and the budgets and types of other adapters: the API knows no budget, so they ask for what
    can be shown of the thoughts and nothing else. `{"type": "disabled"}` is None: no level is none at all.
    """
    if config is None or config.get("type") == "disabled":
        return None
    level = config.get("level")
    if level is not None and str(level).lower() not in _LEVELS:
        raise UsageError(f"thinking: level must be one of {', '.join(_LEVELS)}, got {level!r}")
    return {"thinking_summaries": "auto", **({"thinking_level": str(level).lower()} if level is not None else {})}
