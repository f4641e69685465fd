"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Capabilities

from .._open_provider import COMMON_CAPABILITIES, AdapterClasses
from .models import Model
from .models import model as facts_of
from .service import DIALECT


def capabilities(model: str) -> Capabilities:
    """What is claimed for a model."""
    return claims_for(facts_of(model))


def claims_for(facts: Model) -> Capabilities:
    """What is claimed for a model of which this is known.

    OpenAI's own models think unseen: of that this API shows the cost alone. Other services show theirs.
    """
    return replace(
        COMMON_CAPABILITIES,
        thinking=not facts.known,
        structured=facts.structured,
        images=facts.images,
        documents=facts.documents,
        result_images=facts.images,
        mid_system=True,
        cache="implicit",
    )


CLASSES = AdapterClasses(
    __package__, "OpenAIStateless", "OpenAILegacy", plain_calls={"chat.completions.create": "ChatCompletionsCreate"}
)
BINDING = CLASSES.binding("openai", DIALECT, "gpt-5-mini", capabilities, package="openai")
