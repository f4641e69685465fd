"""Usage, written and read: what its figures hold.

`total_tokens = total_input_tokens + total_output_tokens + total_thought_tokens` in every recorded answer. The input has
what a cache served; the output's two figures do not include each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...messages import JSON, Thought, TokenUsage
from ..base import PromptUsage, Reply
from ..lenient_reading import number


@dataclass(frozen=True, slots=True)
class Figures:
    """The tokens of one answer so far. `images` are those of the prompt that are no text."""

    prompt: int
    cached: int = 0
    output: int = 0
    thoughts: int = 0
    images: int = 0

    def as_json(self) -> dict[str, Any]:
        """As the service writes it. A modality without tokens is left out."""
        images = min(self.images, self.prompt)
        by_modality = {"text": self.prompt - images, "image": images}
        return {
            "total_tokens": self.prompt + self.output + self.thoughts,
            "total_input_tokens": self.prompt,
            "input_tokens_by_modality": [
                {"modality": name, "tokens": tokens} for name, tokens in by_modality.items() if tokens
            ],
            "total_cached_tokens": self.cached,
            "total_output_tokens": self.output,
            "total_tool_use_tokens": 0,
            "total_thought_tokens": self.thoughts,
        }

    def partial(self, output: int, thoughts: int) -> Figures:
        """What is counted when this much has been said, and never more than in the end."""
        return Figures(self.prompt, self.cached, min(output, self.output), min(thoughts, self.thoughts), self.images)


def figures_of(reply: Reply, prompt: PromptUsage, images: int) -> Figures:
    """The final figures of a scripted reply; those that the script gives win.

    Nothing is charged for what is written to a cache: what a script says was written is fresh input.
    """
    scripted = reply.usage
    cached = scripted.get("cache_read", prompt.cache_read)
    written = scripted.get("cache_write", prompt.cache_write_5m + prompt.cache_write_1h)
    thinking = sum(part.tokens for part in reply.parts if isinstance(part.part, Thought))
    output = scripted.get("output", sum(part.tokens for part in reply.parts))
    thoughts = min(scripted.get("thinking", thinking), output)
    return Figures(scripted.get("fresh", prompt.fresh) + cached + written, cached, output - thoughts, thoughts, images)


def usage_of(usage: JSON) -> TokenUsage | None:
    """The API's usage in neutral figures: what tools of the service fed back is prompt, thoughts are output."""
    if not isinstance(usage, Mapping):
        return None
    prompt = number(usage, "total_input_tokens") + number(usage, "total_tool_use_tokens")
    thoughts = number(usage, "total_thought_tokens")
    output = number(usage, "total_output_tokens") + thoughts
    return TokenUsage(prompt, output, prompt + output, number(usage, "total_cached_tokens"), thinking_tokens=thoughts)
