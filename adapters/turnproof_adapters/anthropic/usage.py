"""Token figures, normalised: `prompt` counts all input; the API's `input_tokens` leaves the cache's part out."""

from __future__ import annotations

from turnproof.messages import TokenUsage

from .wire import OutputDetails, Usage

NOTHING = Usage()


def tokens(usage: Usage) -> TokenUsage:
    """The neutral figures; missing ones count as 0."""
    read = usage.cache_read_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    prompt = (usage.input_tokens or 0) + read + written
    output = usage.output_tokens or 0
    details = usage.output_tokens_details or OutputDetails()
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=read,
        cache_creation_tokens=written,
        thinking_tokens=details.thinking_tokens or 0,
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
