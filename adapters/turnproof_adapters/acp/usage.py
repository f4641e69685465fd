"""The tokens of a turn, as far as a program tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnproof.messages import TokenUsage


def usage_of(answer: Mapping[str, Any]) -> TokenUsage | None:
    """What the answer to a prompt says of its tokens; None where it says nothing."""
    match answer:
        case {"usage": Mapping() as usage}:
            return _of_protocol(usage)
        case {"_meta": {"quota": {"token_count": Mapping() as count}}}:
            asked, told = _count(count, "input_tokens"), _count(count, "output_tokens")
            return TokenUsage(asked, told, asked + told)
        case _:
            return None


def _of_protocol(usage: Mapping[str, Any]) -> TokenUsage:
    # What a cache served or took is no part of `inputTokens`.
    read, stored = _count(usage, "cachedReadTokens"), _count(usage, "cachedWriteTokens")
    asked, told = _count(usage, "inputTokens") + read + stored, _count(usage, "outputTokens")
    return TokenUsage(asked, told, asked + told, read, stored, _count(usage, "thoughtTokens"))


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
