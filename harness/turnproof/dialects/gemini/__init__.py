"""Google's Gemini API (`gemini`), at AI Studio and on Vertex AI, also as Google's program asks it (`@gemini-cli`)."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Dialect
from .dialect import Gemini
from .through_cli import ThroughCli

__all__ = ["DIALECT", "Gemini"]

DIALECT: Dialect = Gemini()
SURFACES: Mapping[str, Dialect] = {"gemini-cli": ThroughCli()}
