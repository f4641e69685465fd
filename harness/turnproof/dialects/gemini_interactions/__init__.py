"""Google's Interactions API (`gemini-interactions`), as AI Studio serves it."""

from __future__ import annotations

from ..contract import Dialect
from .dialect import GeminiInteractions

__all__ = ["DIALECT", "GeminiInteractions"]

DIALECT: Dialect = GeminiInteractions()
