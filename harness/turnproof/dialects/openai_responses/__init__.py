"""OpenAI's Responses API (`openai-responses`), the services that speak it, and Codex as it asks them (`@codex`)."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Dialect
from .dialect import OpenAIResponses
from .surfaces import Surface
from .through_codex import ThroughCodex

__all__ = ["DIALECT", "SURFACES", "OpenAIResponses"]

SURFACES: Mapping[str, Dialect] = {
    **{surface.value: OpenAIResponses(surface) for surface in Surface},
    "codex": ThroughCodex(),
}
DIALECT: Dialect = SURFACES[Surface.OPENAI]
