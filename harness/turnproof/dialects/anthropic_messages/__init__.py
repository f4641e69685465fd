"""Anthropic's Messages API (`anthropic-messages`)."""

from __future__ import annotations

from ..base import Dialect
from .dialect import AnthropicMessages

__all__ = ["DIALECT", "AnthropicMessages"]

DIALECT: Dialect = AnthropicMessages()
