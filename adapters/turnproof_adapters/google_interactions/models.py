"""What the adapter has to know of a model by its name: what `google_genai` knows, whose models these are.

All of them give their calls ids here, and take a response schema beside tools (google-genai 3.6,
`CreateModelInteraction`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..google_genai.models import model as family

DIALECT = "gemini-interactions"


@dataclass(frozen=True, slots=True)
class Model:
    """The features of a model. Unknown names count as current models."""

    thinks: bool
    context_tokens: int
    structured: bool = True


def model(name: str | None) -> Model:
    """The model of that name. Thinking arrived with 2.5; where no model is chosen yet, it counts as a current one."""
    facts = family(name)
    return Model(facts.thinks, facts.context_tokens)
