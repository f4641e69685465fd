"""Z.ai's Anthropic-compatible endpoint (`zai`)."""

from __future__ import annotations

from ..contract import Dialect
from .dialect import Zai

__all__ = ["DIALECT", "Zai"]

DIALECT: Dialect = Zai()
