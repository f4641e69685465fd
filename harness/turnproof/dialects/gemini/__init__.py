"""Google's Gemini API (`gemini`), at AI Studio and on Vertex AI."""

from __future__ import annotations

from ..base import Dialect
from .dialect import Gemini

__all__ = ["DIALECT", "Gemini"]

DIALECT: Dialect = Gemini()
