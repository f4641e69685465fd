"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .._open_provider import COMMON_CAPABILITIES, AdapterClasses
from .models import DIALECT, NAME
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Not claimed is what the server passes over: cache marks, response schemas and
    documents; and token counts, which it does not give."""
    facts = facts_of(model)
    claims = replace(COMMON_CAPABILITIES, tools=facts.calls, parallel_tools=facts.calls, thinking=facts.thinks)
    return replace(claims, images=facts.sees, result_images=facts.sees, mid_system=facts.mid_system, cache="none")


CLASSES = AdapterClasses(
    __package__, "OllamaStateless", "OllamaLegacy", plain_calls={"messages.create": "OllamaMessagesCreate"}
)
BINDING = CLASSES.binding(NAME, DIALECT, "qwen3:8b", capabilities, package="anthropic")
