"""The legacy paths at Copilot: those of the two APIs, by Copilot's way."""

from __future__ import annotations

from ...openai.legacy import OpenAILegacy
from ...openai_responses.legacy import ResponsesLegacy
from .providers import CopilotChat, CopilotResponses


class CopilotChatLegacy(CopilotChat, OpenAILegacy):
    """A conversation with a chat model of Copilot. One object holds one conversation."""


class CopilotResponsesLegacy(CopilotResponses, ResponsesLegacy):
    """A conversation with a codex model of Copilot. One object holds one conversation."""
