"""What stands around the items of a request: model, limits, reasoning, output format, instructions and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.errors import UsageError

from .._calling import Prompt
from . import convert
from .models import model as facts_of

ENCRYPTED = "reasoning.encrypted_content"
"""What has to be asked for, since the service keeps nothing: reasoning that can be sent back."""

LEAST_OUTPUT = 16
"""The smallest limit that the API takes (vectorize-io/hindsight#58)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of a request that the provider is configured with."""

    model: str
    max_tokens: int | None = None
    reasoning: Mapping[str, Any] | None = None
    compact_threshold: int | None = None

    def kwargs(self, prompt: Prompt) -> dict[str, Any]:
        """Everything but `input` and `stream`, as `responses.create` takes it."""
        fields: dict[str, Any] = {"model": self.model, "store": False}
        if (instructions := convert.system(prompt.system)) is not None:
            fields["instructions"] = instructions
        if facts_of(self.model).thinks:
            # A model that does not reason refuses to be asked for either.
            fields["include"] = [ENCRYPTED]
            if self.reasoning is not None:
                fields["reasoning"] = dict(self.reasoning)
        if self.compact_threshold is not None:
            fields["context_management"] = [{"type": "compaction", "compact_threshold": self.compact_threshold}]
        if self.max_tokens is not None:
            fields["max_output_tokens"] = max(self.max_tokens, LEAST_OUTPUT)
        if prompt.response_schema is not None:
            fields["text"] = {"format": convert.response_format(prompt.response_schema)}
        if prompt.tools:
            fields["tools"] = convert.tools(prompt.tools)
        return fields


def reasoning_config(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A thinking configuration in the API's form; None leaves it to the model, unseen.

    Takes the API's own `{"effort": ..., "summary": ...}`, and the budgets and types of other adapters: the API knows no
    budget, so they ask for what can be shown of the reasoning and nothing else. `{"type": "disabled"}` is None: a model
    that reasons cannot be kept from it.
    """
    if config is None or config.get("type") == "disabled":
        return None
    own = {name: config[name] for name in ("effort", "summary") if config.get(name) is not None}
    for name, value in own.items():
        if not isinstance(value, str):
            raise UsageError(f"thinking: {name} must be a word, got {value!r}")
    return {"summary": "auto", **own}
