"""`usageMetadata`, written and read: what its figures hold, and which of them are left out.

`totalTokenCount = promptTokenCount + candidatesTokenCount + thoughtsTokenCount + toolUsePromptTokenCount` in every
recorded answer. The prompt's figure includes what a cache served; the output's two figures do not include each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...messages import JSON, FunctionCall, Opaque, Part, Text, Thought, TokenUsage
from ...tokens import json_tokens, text_tokens
from ..base import PromptUsage, Reply
from ..lenient_reading import number
from .surfaces import Surface

_CALL_TOKENS = 8


@dataclass(frozen=True, slots=True)
class Figures:
    """The tokens of one answer so far."""

    prompt: int
    cached: int = 0
    candidates: int = 0
    thoughts: int = 0

    def metadata(self, surface: Surface) -> dict[str, Any]:
        """As the service writes it: a figure that is 0 is left out, a sum too."""
        figures = {
            "promptTokenCount": self.prompt,
            "cachedContentTokenCount": self.cached,
            "candidatesTokenCount": self.candidates,
            "thoughtsTokenCount": self.thoughts,
            "totalTokenCount": self.prompt + self.candidates + self.thoughts,
        }
        details = {"promptTokensDetails": self.prompt, "cacheTokensDetails": self.cached}
        return {
            **{name: value for name, value in figures.items() if value},
            **{name: [{"modality": "TEXT", "tokenCount": value}] for name, value in details.items() if value},
            **tier(surface),
        }


def tier(surface: Surface) -> dict[str, Any]:
    """What stands in the metadata of a surface also where no figure does."""
    match surface:
        case Surface.AI_STUDIO:
            return {"serviceTier": "standard"}
        case Surface.VERTEX:
            return {"trafficType": "ON_DEMAND"}
        case Surface.CLOUD_CODE:
            return {}


def figures_of(reply: Reply, prompt: PromptUsage) -> Figures:
    """The final figures of a scripted reply; those that the script gives win.

    The service stores a prefix without charging for it: what a script says was written to a cache is fresh input.
    """
    scripted = reply.usage
    cached = scripted.get("cache_read", prompt.cache_read)
    written = scripted.get("cache_write", prompt.cache_write_5m + prompt.cache_write_1h)
    thinking = sum(weight(each.part) for each in reply.parts if isinstance(each.part, Thought))
    visible_tokens = sum(weight(each.part) for each in reply.parts if not isinstance(each.part, Thought))
    output = scripted.get("output", visible_tokens + thinking)
    thoughts = min(scripted.get("thinking", thinking), output)
    return Figures(scripted.get("fresh", prompt.fresh) + cached + written, cached, output - thoughts, thoughts)


def weight(part: Part) -> int:
    """Tokens of one scripted part of an answer; thinking that is not shown has been thought all the same."""
    match part:
        case Thought(text=text):
            return text_tokens(text) or 1
        case Text(text=text):
            return text_tokens(text)
        case FunctionCall(name=name, args=args):
            return text_tokens(name) + json_tokens(args) + _CALL_TOKENS
        case Opaque(data=data):
            return json_tokens(data)
        case _:
            return 1


def usage_of(metadata: JSON) -> TokenUsage | None:
    """The API's usage in neutral figures: what tools of the service fed back is prompt, thoughts are output."""
    if not isinstance(metadata, Mapping):
        return None
    prompt = number(metadata, "promptTokenCount") + number(metadata, "toolUsePromptTokenCount")
    thoughts = number(metadata, "thoughtsTokenCount")
    output = number(metadata, "candidatesTokenCount") + thoughts
    cached = number(metadata, "cachedContentTokenCount")
    return TokenUsage(prompt, output, prompt + output, cached, thinking_tokens=thoughts)


def prompt_only_usage(tokens: int) -> TokenUsage:
    """The usage of an answer that only says how many tokens there are (`countTokens`, a managed cache)."""
    return TokenUsage(prompt_tokens=tokens, total_tokens=tokens)
