"""How turnproof opens this adapter. Importing it starts no program."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .._open_provider import COMMON_CAPABILITIES, AdapterClasses
from ..anthropic.models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. The program sets its own cache marks, and reads no response schema here."""
    facts = facts_of(model)
    return replace(COMMON_CAPABILITIES, thinking=facts.thinks, opaque_thinking=facts.thinks, images=True, cache="none")


CLASSES = AdapterClasses(__package__, "ClaudeCliStateless", "ClaudeCliLegacy")
BINDING = CLASSES.binding("claude_cli", "anthropic-messages@claude-cli", "claude-haiku-4-5", capabilities, declared=())
