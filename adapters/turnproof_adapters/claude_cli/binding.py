"""How turnproof opens this adapter. Importing it starts no program."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities

from .._open_provider import COMMON_CAPABILITIES, LegacyOpener, StatelessOpener
from ..anthropic.models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. The program sets its own cache marks, and reads no response schema here."""
    facts = facts_of(model)
    return replace(COMMON_CAPABILITIES, thinking=facts.thinks, opaque_thinking=facts.thinks, images=True, cache="none")


BINDING = Binding(
    name="claude_cli",
    dialect="anthropic-messages@claude-cli",
    model="claude-haiku-4-5",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.claude_cli.stateless:ClaudeCliStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.claude_cli.legacy:ClaudeCliLegacy"),
)
