"""What stands around the messages of a request: model, limits, thinking, output format, system text and tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnproof.errors import InvalidRequestError

from .._calling import Prompt
from . import convert
from .service import Facts, Service


@dataclass(frozen=True, slots=True)
class Settings:
    """The part of a request that the provider is configured with."""

    service: Service
    model: str
    max_tokens: int | None = None
    thinking: Mapping[str, Any] | None = None

    def kwargs(self, prompt: Prompt, *, think: bool) -> dict[str, Any]:
        """Everything but `messages` and `stream`, as `messages.create` takes it. `think=False` leaves thinking off."""
        thinking = self._thinking() if think else None
        fields: dict[str, Any] = {"max_tokens": self._room(thinking), "model": self.model}
        if prompt.response_schema is not None:
            if not self.service.schemas:
                raise InvalidRequestError(f"{self.service.name} does not heed a response schema")
            fields["output_config"] = {"format": convert.response_format(prompt.response_schema)}
        if blocks := convert.system(prompt.system, self.service):
            fields["system"] = blocks
        if thinking is not None:
            fields["thinking"] = dict(thinking)
        if prompt.tools:
            fields["tools"] = convert.tools(prompt.tools, self.service)
        return fields

    def thinks_before(self, *, loop_lacks_thinking: bool) -> bool:
        """Whether this request may ask for thinking.

        With a fixed budget the API demands that a running tool loop began with thinking; one that began without it
        (on another model, or before thinking was switched on) is finished without. Adaptive thinking never demands it.
        """
        if not self.service.signs:
            return True
        thinking = self._thinking()
        return thinking is None or thinking["type"] != "enabled" or not loop_lacks_thinking

    @property
    def facts(self) -> Facts:
        """What the model can do."""
        return self.service.models.model(self.model)

    def _thinking(self) -> Mapping[str, Any] | None:
        """The thinking asked for, in the form that the model takes."""
        if self.thinking is not None and self.thinking["type"] == "enabled" and self.facts.adaptive_only:
            return {"type": "adaptive"}
        return self.thinking

    def _room(self, thinking: Mapping[str, Any] | None) -> int:
        """`max_tokens`, which covers thinking and answer: always more than the thinking budget."""
        room = self.max_tokens if self.max_tokens is not None else self.facts.max_tokens
        budget = (thinking or {}).get("budget_tokens", 0)
        return room if room > budget else room + budget
