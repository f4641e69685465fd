"""Anthropic's Messages API (`anthropic-messages`), also as Claude's command line program asks it (`@claude-cli`)."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Dialect
from .dialect import AnthropicMessages
from .through_claude import ThroughClaude

__all__ = ["DIALECT", "SURFACES", "AnthropicMessages"]

DIALECT: Dialect = AnthropicMessages()

SURFACES: Mapping[str, Dialect] = {"claude-cli": ThroughClaude()}
