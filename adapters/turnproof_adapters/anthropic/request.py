"""What stands around the messages of a request: model, limits, thinking, output format, system text and tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turnproof.errors import UsageError
from turnproof.messages import ToolSchema
from turnproof.provider import SystemInstruction

from . import convert
from .models import model as facts_of

MINIMUM_BUDGET = 1024
"""The smallest thinking budget that the API accepts."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of a request that the provider is configured with."""

    model: str
    max_tokens: int | None = None
    thinking: Mapping[str, Any] | None = None

    def kwargs(
        self,
        system: SystemInstruction,
        tools: Sequence[ToolSchema] | None,
        response_schema: Mapping[str, Any] | None,
        *,
        think: bool,
    ) -> dict[str, Any]:
        """Everything but `messages` and `stream`, as `messages.create` takes it. `think=False` leaves thinking off."""
        thinking = self._thinking() if think else None
        fields: dict[str, Any] = {"max_tokens": self._room(thinking), "model": self.model}
        if response_schema is not None:
            fields["output_config"] = {"format": convert.response_format(response_schema)}
        if blocks := convert.system(system):
            fields["system"] = blocks
        if thinking is not None:
            fields["thinking"] = dict(thinking)
        if tools:
            fields["tools"] = convert.tools(tools)
        return fields

    def thinks_before(self, *, loop_lacks_thinking: bool) -> bool:
        """Whether this request may ask for thinking.

        With a fixed budget the API demands that a running tool loop began with thinking; one that began without it
        (on another model, or before thinking was switched on) is finished without. Adaptive thinking never demands it.
        """
        thinking = self._thinking()
        return thinking is None or thinking["type"] != "enabled" or not loop_lacks_thinking

    def _thinking(self) -> Mapping[str, Any] | None:
        """The thinking asked for, in the form that the model takes."""
        if self.thinking is not None and self.thinking["type"] == "enabled" and facts_of(self.model).adaptive_only:
            return {"type": "adaptive"}
        return self.thinking

    def _room(self, thinking: Mapping[str, Any] | None) -> int:
        """`max_tokens`, which covers thinking and answer: always more than the thinking budget."""
        room = self.max_tokens if self.max_tokens is not None else facts_of(self.model).max_tokens
        budget = (thinking or {}).get("budget_tokens", 0)
        return room if room > budget else room + budget


def thinking_config(config: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A thinking configuration in the API's form; None switches thinking off.

    Takes `{"budget_tokens": n}`, `{"type": "adaptive"}`, `{"type": "disabled"}` and the API's own forms.
    """
    if config is None or config.get("type") == "disabled":
        return None
    kind = config.get("type", "enabled")
    if kind == "enabled":
        budget = config.get("budget_tokens")
        if not isinstance(budget, int) or budget < MINIMUM_BUDGET:
            raise UsageError(f"thinking: budget_tokens must be an integer of at least {MINIMUM_BUDGET}, got {budget!r}")
    elif kind != "adaptive":
        raise UsageError(f"thinking: type must be 'enabled', 'adaptive' or 'disabled', got {kind!r}")
    return {**config, "type": kind}
