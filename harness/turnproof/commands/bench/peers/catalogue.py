"""Which peers there are, and what has to be installed for which adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...._base.suggestions import did_you_mean
from ....errors import UsageError

PEERS: Mapping[str, Mapping[str, str]] = {
    "langchain": {
        "anthropic": "langchain-anthropic",
        "openai": "langchain-openai",
        "google_genai": "langchain-google-genai",
    },
    "pydantic-ai": {
        "anthropic": "pydantic-ai-slim[anthropic]",
        "openai": "pydantic-ai-slim[openai]",
        "google_genai": "pydantic-ai-slim[google]",
    },
    # It imports `mcp` and does not ask for it.
    "litellm": {"anthropic": "litellm mcp", "openai": "litellm mcp", "google_genai": "litellm mcp"},
    "any-llm": {
        "anthropic": "any-llm-sdk[anthropic]",
        "openai": "any-llm-sdk[openai]",
        "google_genai": "any-llm-sdk[gemini]",
    },
}
"""What is installed of each peer for each adapter that it can stand beside, as pip takes it."""

SHOWN = (
    "anthropic",
    "openai",
    "google-genai",
    "langchain-core",
    "pydantic-ai-slim",
    "litellm",
    "any-llm-sdk",
    "httpx2",
)
"""The packages whose versions the table names."""


def peers_of(adapter: str, peers: Sequence[str], adapters: Sequence[str]) -> tuple[str, ...]:
    """Those of the peers that are measured beside this adapter, one of several.

    A peer that can stand beside another one of them is not missed here. One that can stand beside none is: somebody has
    asked for what cannot be.
    """
    return tuple(peer for peer in peers if adapter in PEERS[peer] or not any(name in PEERS[peer] for name in adapters))


def check_peer(name: str) -> str:
    """The name, if there is such a peer. Raises UsageError."""
    if name not in PEERS:
        raise UsageError(f"unknown peer {name!r}{did_you_mean(name, PEERS)}; there are {', '.join(PEERS)}")
    return name
