"""Who remembers a conversation: by pattern, the longest first, and nobody who is not known."""

from __future__ import annotations

import pytest

from turnproof.errors import UsageError
from turnproof.session.store import ProviderRegistry
from turnproof.session.store.providers import provider_of


@pytest.mark.parametrize(
    ("model", "memory"),
    [
        ("claude-cli/sonnet", "stateful"),
        ("claude-acp/opus", "stateful"),
        ("codex-acp/gpt-5.5", "stateful"),
        ("gemini-acp/gemini-pro", "stateful"),
        ("gemini-cli/gemini-pro", "stateless"),
        ("openai/gpt-4o", "stateless"),
        ("anthropic/claude-sonnet-4-5", "stateless"),
        ("claude-cli", "stateless"),
        ("not-claude-cli/sonnet", "stateless"),
        ("Claude-CLI/sonnet", "stateless"),
        ("", "stateless"),
    ],
)
def test_only_what_is_known_to_remember_is_stateful(model: str, memory: str) -> None:
    assert ProviderRegistry().memory_of(model) == memory


def test_the_longest_pattern_that_fits_counts_and_of_equal_ones_the_latest() -> None:
    registry = ProviderRegistry()
    registry.register("codex/*", "stateful")
    registry.register("codex/replay-*", "stateless")
    assert registry.memory_of("codex/one") == "stateful"
    assert registry.memory_of("codex/replay-one") == "stateless"
    registry.register("codex/?ne", "stateless")
    assert registry.memory_of("codex/one") == "stateless"
    registry.register("codex/on?", "stateful")
    assert registry.memory_of("codex/one") == "stateful"
    registry.register("codex/?ne", "stateless")
    assert registry.memory_of("codex/one") == "stateless", "said again, it is the latest"


def test_what_is_neither_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'x/\*': a provider is 'stateful' or 'stateless', got 'both'"):
        ProviderRegistry({"x/*": "both"})  # type: ignore[dict-item]


def test_the_provider_is_what_stands_before_the_first_slash() -> None:
    assert [provider_of(name) for name in ("a/b/c", "a", "")] == ["a", "a", ""]
