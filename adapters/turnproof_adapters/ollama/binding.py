"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities

from .._open_provider import COMMON_CAPABILITIES, DECODER_WORDS, LegacyOpener, PlainCallOpener, StatelessOpener
from .models import DIALECT, NAME
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Not claimed is what the server passes over: cache marks, response schemas and
    documents; and token counts, which it does not give."""
    facts = facts_of(model)
    claims = replace(COMMON_CAPABILITIES, tools=facts.calls, parallel_tools=facts.calls, thinking=facts.thinks)
    return replace(claims, images=facts.sees, result_images=facts.sees, mid_system=facts.mid_system, cache="none")


BINDING = Binding(
    name=NAME,
    dialect=DIALECT,
    model="qwen3:8b",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.ollama.stateless:OllamaStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.ollama.legacy:OllamaLegacy"),
    declared=[DECODER_WORDS],
    plain_calls={"messages.create": PlainCallOpener("turnproof_adapters.ollama.plain:OllamaMessagesCreate")},
    package="anthropic",
)
