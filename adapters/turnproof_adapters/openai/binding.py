"""How turnproof opens this adapter. Importing it imports no SDK."""

from __future__ import annotations

from dataclasses import replace

from turnproof.provider import Binding, Capabilities

from .._open_provider import COMMON_CAPABILITIES, DECODER_WORDS, LegacyOpener, PlainCallOpener, StatelessOpener
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


BINDING = Binding(
    name="openai",
    dialect=DIALECT,
    model="gpt-5-mini",
    capabilities=capabilities,
    open_stateless=StatelessOpener("turnproof_adapters.openai.stateless:OpenAIStateless"),
    open_legacy=LegacyOpener("turnproof_adapters.openai.legacy:OpenAILegacy"),
    declared=[DECODER_WORDS],
    plain_calls={"chat.completions.create": PlainCallOpener("turnproof_adapters.openai.plain:ChatCompletionsCreate")},
    package="openai",
)
