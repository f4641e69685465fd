"""The legacy path: Anthropic's, at a server of Ollama's."""

from __future__ import annotations

from ..anthropic.legacy import AnthropicLegacy
from .lifecycle import OllamaProvider


class OllamaLegacy(OllamaProvider, AnthropicLegacy):
    """A conversation with a server's model. One object holds one conversation and serves one thread at a time."""
