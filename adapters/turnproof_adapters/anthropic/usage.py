"""Token figures, normalised: `prompt` counts all input; the API's `input_tokens` leaves the cache's part out."""

from __future__ import annotations

from turnproof.messages import TokenUsage

from .._answers import token_count
from .wire import OutputDetails, Usage

NOTHING = Usage()


def tokens(usage: Usage) -> TokenUsage:
    """The neutral figures; missing ones, and negative ones, count as 0."""
    read = token_count(usage.cache_read_input_tokens)
    written = token_count(usage.cache_creation_input_tokens)
    prompt = token_count(usage.input_tokens) + read + written
    output = token_count(usage.output_tokens)
    details = usage.output_tokens_details or OutputDetails()
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=read,
        cache_creation_tokens=written,
        thinking_tokens=token_count(details.thinking_tokens),
    )


def updated(usage: Usage, change: Usage) -> Usage:
    """Figures at the end of a stream replace those of its start; one that is not repeated stays as it was."""
    return Usage(
        _latest(usage.input_tokens, change.input_tokens),
        _latest(usage.cache_creation_input_tokens, change.cache_creation_input_tokens),
        _latest(usage.cache_read_input_tokens, change.cache_read_input_tokens),
        _latest(usage.output_tokens, change.output_tokens),
        change.output_tokens_details or usage.output_tokens_details,
    )


def _latest(before: int | None, after: int | None) -> int | None:
    return before if after is None else after
