"""Ollama's server (`ollama`): its own API, and the one in Anthropic's format."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Dialect
from .dialect import Ollama
from .surfaces import Surface

__all__ = ["DIALECT", "SURFACES", "Ollama"]

SURFACES: Mapping[str, Dialect] = {surface.value: Ollama(surface) for surface in Surface}
"""By the surface whose errors are meant where no request says it: both read and answer requests of either."""

DIALECT: Dialect = SURFACES[Surface.MESSAGES]
