"""OpenAI's chat completions API (`openai-chat`), and the services that speak it."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Dialect
from .dialect import OpenAIChat
from .surfaces import Surface

__all__ = ["DIALECT", "SURFACES", "OpenAIChat"]

SURFACES: Mapping[str, Dialect] = {surface.value: OpenAIChat(surface) for surface in Surface}
DIALECT: Dialect = SURFACES[Surface.OPENAI]
