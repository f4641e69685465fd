"""What stands around the messages of a request: limits, effort, output format, tools, and what an endpoint wants
besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof.errors import UsageError
from turnproof.messages import ToolSchema

from . import convert
from .service import OPENAI, Service

_OWN = frozenset({"messages", "model", "stream"})
"""Fields that no setting may replace."""

_BUDGETS = ((1024, "low"), (2048, "medium"))
"""Efforts by thinking budgets, for callers who count in tokens: up to so many it is this effort, beyond that `high`.
The levels are those of LiteLLM's mapping, which frameworks have made the common one (its constants
DEFAULT_REASONING_EFFORT_*_THINKING_BUDGET)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of a request that the provider is configured with."""

    model: str
    service: Service = OPENAI
    max_tokens: int | None = None
    effort: str | None = None

    def fields(
        self, tools: Sequence[ToolSchema] | None, response_schema: Mapping[str, Any] | None, *, stream: bool
    ) -> dict[str, Any]:
        """All known fields behind `messages`, in the order in which the official SDK writes them."""
        fields: dict[str, Any] = {}
        if self.max_tokens is not None:
            fields[self._limit()] = self.max_tokens
        # A model that does not think refuses to be asked how much it should.
        if self.effort is not None and self.service.facts(self.model).thinks:
            fields["reasoning_effort"] = self.effort
        if response_schema is not None:
            fields["response_format"] = convert.response_format(response_schema)
        if stream:
            fields["stream_options"] = {"include_usage": True}
        if tools:
            fields["tools"] = convert.tools(tools)
        return fields

    def _limit(self) -> str:
        """The name of the field for the length of an answer: OpenAI's models that think take only the newer one, many
        other services know only the older."""
        if self.service.limit is not None:
            return self.service.limit
        return "max_completion_tokens" if self.service.facts(self.model).known else "max_tokens"


def thinking_effort(config: Mapping[str, Any] | None) -> str | None:
    """The effort that a thinking configuration asks for; None leaves it to the model.

    Takes `{"effort": "low"}` with any of the API's words, `{"budget_tokens": n}`, and `{"type": "disabled"}`.
    """
    if config is None or config.get("type") == "disabled":
        return None
    effort, budget = config.get("effort"), config.get("budget_tokens")
    if isinstance(effort, str) and effort:
        return effort
    if isinstance(budget, int) and not isinstance(budget, bool) and budget > 0:
        return next((level for most, level in _BUDGETS if budget <= most), "high")
    raise UsageError(f"thinking: `effort` must be a word or `budget_tokens` a positive integer, got {dict(config)!r}")


def extra_fields(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Further fields of every request. Raises UsageError for those that belong to the call."""
    fields = dict(extra or {})
    if call_fields := _OWN & fields.keys():
        raise UsageError(f"extra_body must not hold {', '.join(sorted(call_fields))}: the call decides about them")
    return fields
