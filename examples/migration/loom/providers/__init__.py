"""The services that a session can talk to."""

from .anthropic import AnthropicProvider
from .base import Provider
from .openai import OpenAIProvider

__all__ = ["AnthropicProvider", "OpenAIProvider", "Provider"]
