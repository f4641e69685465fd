"""The stateless path: Anthropic's, at a server of Ollama's."""

from __future__ import annotations

from ..anthropic.stateless import AnthropicStateless
from .lifecycle import OllamaProvider


class OllamaStateless(OllamaProvider, AnthropicStateless):
    """`complete()` for a server's models. One object serves any number of conversations and threads."""
