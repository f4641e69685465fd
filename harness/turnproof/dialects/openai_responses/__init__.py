"""OpenAI's Responses API (`openai-responses`), at OpenAI and at GitHub Copilot."""

from __future__ import annotations

from ..base import Dialect
from .dialect import OpenAIResponses

__all__ = ["DIALECT", "OpenAIResponses"]

DIALECT: Dialect = OpenAIResponses()
