"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .._open_provider import COMMON_CAPABILITIES, AdapterClasses
from .models import DIALECT, NAME
from .models import model as facts_of


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model. Not claimed is what nothing is known of at this endpoint: documents, response
    schemas, instructions in mid-conversation, encrypted thinking, the service's own tools, and a figure for the tokens
    of thinking."""
    facts = facts_of(model)
    return replace(
        COMMON_CAPABILITIES,
        thinking=facts.thinks,
        thinking_tokens=False,
        images=facts.sees,
        result_images=facts.sees,
        cache="implicit",
    )


CLASSES = AdapterClasses(__package__, "ZaiStateless", "ZaiLegacy", plain_calls={"messages.create": "ZaiMessagesCreate"})
BINDING = CLASSES.binding(NAME, DIALECT, "glm-4.7", capabilities, declared=(), package="anthropic")
