"""Token figures in Gemini's arithmetic, as the neutral ones."""

from __future__ import annotations

from typing import Protocol

from turnproof.messages import TokenUsage

from .._answers import token_count


class Figures(Protocol):
    """The usage of an answer, as the SDK's object and as decoded data have it."""

    @property
    def prompt_token_count(self) -> int | None: ...
    @property
    def tool_use_prompt_token_count(self) -> int | None: ...
    @property
    def candidates_token_count(self) -> int | None: ...
    @property
    def thoughts_token_count(self) -> int | None: ...
    @property
    def cached_content_token_count(self) -> int | None: ...


def tokens(figures: Figures) -> TokenUsage:
    """The neutral figures; missing and negative ones count as 0. Each object of a stream brings the whole count.

    What a cache served is part of the prompt, what tools of the service fed back is not; what was thought is no part of
    what was said.
    """
    prompt = token_count(figures.prompt_token_count) + token_count(figures.tool_use_prompt_token_count)
    thoughts, text = token_count(figures.thoughts_token_count), token_count(figures.candidates_token_count)
    return token_usage(prompt, text, thoughts, cached=token_count(figures.cached_content_token_count))


def token_usage(prompt: int, text: int, thoughts: int, *, cached: int) -> TokenUsage:
    """The neutral figures of an answer of Google's models: what was thought and what was said make its output."""
    output = text + thoughts
    return TokenUsage(prompt, output, prompt + output, cache_read_tokens=cached, thinking_tokens=thoughts)
