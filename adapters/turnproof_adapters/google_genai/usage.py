"""Token figures in Gemini's arithmetic, as the neutral ones."""

from __future__ import annotations

from turnproof.messages import TokenUsage

from .._answers import token_count


def tokens(
    *,
    prompt: int | None = None,
    fed_back: int | None = None,
    said: int | None = None,
    thought: int | None = None,
    cached: int | None = None,
) -> TokenUsage:
    """The neutral figures; missing and negative ones count as 0. Each object of a stream brings the whole count.

    What a cache served is part of the prompt, what tools of the service fed back (`fed_back`) is not; what was thought
    is no part of what was said.
    """
    asked, thinking = token_count(prompt) + token_count(fed_back), token_count(thought)
    output = token_count(said) + thinking
    return TokenUsage(
        prompt_tokens=asked,
        output_tokens=output,
        total_tokens=asked + output,
        cache_read_tokens=token_count(cached),
        thinking_tokens=thinking,
    )
