"""`usage`, written and read: cached tokens are a part of the prompt's, thinking a part of the completion's."""

from __future__ import annotations

from typing import Any

from ...messages import JSON, Thought, TokenUsage
from ..base import PromptUsage, Reply
from ..lenient_reading import number
from .surface_table import SURFACE_TABLE
from .surfaces import Surface


def usage_object(
    reply: Reply, prompt: PromptUsage, surface: Surface, *, counts_writes: bool, answers: int = 1
) -> dict[str, Any]:
    """The figures of a scripted reply that is given so many times, as the surface writes them; those that the script
    gives win."""
    scripted = reply.usage
    read = scripted.get("cache_read", prompt.cache_read)
    wrote = scripted.get("cache_write", prompt.cache_write_5m + prompt.cache_write_1h)
    thinking = answers * sum(each.tokens for each in reply.parts if isinstance(each.part, Thought))
    output = scripted.get("output", answers * (sum(each.tokens for each in reply.parts) or 1))
    whole = scripted.get("fresh", prompt.fresh) + read + wrote
    figures: dict[str, Any] = {
        "prompt_tokens": whole, "completion_tokens": output, "total_tokens": whole + output,
    }  # fmt: skip
    if not SURFACE_TABLE[surface].details:
        return figures
    prompt_details: dict[str, int] = {"cached_tokens": read}
    output_details: dict[str, int] = {"reasoning_tokens": min(scripted.get("thinking", thinking), output)}
    if surface is not Surface.ZAI:
        prompt_details["audio_tokens"] = 0
        output_details |= {"audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
    if counts_writes or "cache_write" in scripted:
        prompt_details["cache_write_tokens"] = wrote
    return figures | {"prompt_tokens_details": prompt_details, "completion_tokens_details": output_details}


def usage_of(usage: JSON) -> TokenUsage | None:
    """The API's usage in neutral figures.

    Servers that imitate the API were seen to report more cached tokens than the prompt has (`openai-chat.md` §2): a
    part is never more than the whole.
    """
    if not isinstance(usage, dict):
        return None
    prompt, output = number(usage, "prompt_tokens"), number(usage, "completion_tokens")
    inside, outside = _details(usage, "prompt_tokens_details"), _details(usage, "completion_tokens_details")
    return TokenUsage(
        prompt,
        output,
        prompt + output,
        min(number(inside, "cached_tokens"), prompt),
        min(number(inside, "cache_write_tokens"), prompt),
        min(number(outside, "reasoning_tokens"), output),
    )


def _details(usage: dict[str, Any], name: str) -> dict[str, Any]:
    details = usage.get(name)
    return details if isinstance(details, dict) else {}
