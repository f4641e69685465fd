"""The stateless paths at Copilot: those of the two APIs, by Copilot's way."""

from __future__ import annotations

from ...openai.stateless import OpenAIStateless
from ...openai_responses.stateless import ResponsesStateless
from .providers import CopilotChat, CopilotResponses


class CopilotChatStateless(CopilotChat, OpenAIStateless):
    """`complete()` for Copilot's chat models. One object serves any number of conversations and threads."""


class CopilotResponsesStateless(CopilotResponses, ResponsesStateless):
    """`complete()` for Copilot's codex models. One object serves any number of conversations and threads."""
