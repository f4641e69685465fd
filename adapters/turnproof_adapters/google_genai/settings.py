"""What stands around the contents of a request: system text, tools, limits, thinking, output format, managed cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from turnproof.errors import UsageError

from .._calling import Prompt
from . import convert

Fields: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of a request that the provider is configured with."""

    model: str
    max_tokens: int | None = None
    thinking: Mapping[str, Any] | None = None

    def fields(self, prompt: Prompt) -> Fields:
        """Everything but `contents`, as the API spells it.

        A managed cache holds system text and tools: a request that names one may not carry them again.
        """
        fields: Fields = {}
        if generation := self._generation(prompt.response_schema):
            fields["generationConfig"] = generation
        cache = convert.cache_name(prompt.system, prompt.tools)
        if cache is not None:
            fields["cachedContent"] = cache
            return fields
        if (instruction := convert.system(prompt.system)) is not None:
            fields["systemInstruction"] = instruction
        if prompt.tools:
            fields["tools"] = convert.tools(prompt.tools)
        return fields

    def _generation(self, response_schema: Mapping[str, Any] | None) -> Fields:
        generation: Fields = {}
        if (room := self._room()) is not None:
            generation["maxOutputTokens"] = room
        if (thinking := self._thinking()) is not None:
            generation["thinkingConfig"] = dict(thinking)
        if response_schema is not None:
            generation |= convert.response_format(response_schema)
        return generation

    def _room(self) -> int | None:
        """`maxOutputTokens`."""
        return self.max_tokens

    def _thinking(self) -> Mapping[str, Any] | None:
        """`thinkingConfig`."""
        return self.thinking


def thinking_config(config: Mapping[str, Any] | None) -> Fields | None:
    """A thinking configuration in the API's form; None leaves thinking to the model and hides it.

    Takes `{"budget_tokens": n}` (-1 lets the model decide, 0 is off where a model can do without), `{"level": "low"}`,
    `{"type": "adaptive"}` and `{"type": "disabled"}`.
    """
    if config is None or config.get("type") == "disabled":
        return None
    unknown = config.keys() - {"type", "budget_tokens", "level"}
    if unknown or config.get("type", "enabled") not in ("enabled", "adaptive"):
        raise UsageError(f"thinking: 'budget_tokens', 'level' or a type 'adaptive' or 'disabled', got {dict(config)!r}")
    budget, level = config.get("budget_tokens"), config.get("level")
    # The API refuses to show thoughts of a model that is told not to think.
    fields: Fields = {"includeThoughts": True} if budget != 0 else {}
    if budget is not None:
        if not isinstance(budget, int) or isinstance(budget, bool) or budget < -1:
            raise UsageError(f"thinking: budget_tokens must be an integer of at least -1, got {budget!r}")
        fields["thinkingBudget"] = budget
    if level is not None:
        fields["thinkingLevel"] = str(level).upper()
    return fields
