"""Token figures, normalised. The API's `input_tokens` holds what the cache read or wrote, `output_tokens` reasoning."""

from __future__ import annotations

from turnproof.messages import TokenUsage

from .._answers import token_count
from .wire import InputDetails, OutputDetails, Usage


def tokens(usage: Usage | None) -> TokenUsage:
    """The neutral figures. Missing ones count as 0, and a part is never more than its whole."""
    if usage is None:
        return TokenUsage()
    prompt, output = token_count(usage.input_tokens), token_count(usage.output_tokens)
    given = usage.input_tokens_details or InputDetails()
    made = usage.output_tokens_details or OutputDetails()
    read = min(token_count(given.cached_tokens), prompt)
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=read,
        cache_creation_tokens=min(token_count(given.cache_write_tokens), prompt - read),
        thinking_tokens=min(token_count(made.reasoning_tokens), output),
    )
