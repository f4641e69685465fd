"""Token figures, normalised. The API's parts are inside its wholes: cached tokens in the prompt's, thinking in the
answer's."""

from __future__ import annotations

from turnproof.messages import TokenUsage

from .._answers import token_count
from .wire import OutputDetails, PromptDetails, Usage


def tokens(usage: Usage) -> TokenUsage:
    """The neutral figures; missing ones, and negative ones, count as 0. A part is never more than its whole: servers
    were seen to report more cached tokens than the prompt has."""
    prompt, output = token_count(usage.prompt_tokens), token_count(usage.completion_tokens)
    inside = usage.prompt_tokens_details or PromptDetails()
    spent = usage.completion_tokens_details or OutputDetails()
    return TokenUsage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        cache_read_tokens=min(token_count(inside.cached_tokens), prompt),
        cache_creation_tokens=min(token_count(inside.cache_write_tokens), prompt),
        thinking_tokens=min(token_count(spent.reasoning_tokens), output),
    )
