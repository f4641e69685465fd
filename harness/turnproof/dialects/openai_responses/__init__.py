"""OpenAI's Responses API (`openai-responses`), at OpenAI and at GitHub Copilot, also as Codex asks it (`@codex`)."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Dialect
from .dialect import OpenAIResponses
from .through_codex import ThroughCodex

__all__ = ["DIALECT", "OpenAIResponses"]

DIALECT: Dialect = OpenAIResponses()
SURFACES: Mapping[str, Dialect] = {"codex": ThroughCodex()}
