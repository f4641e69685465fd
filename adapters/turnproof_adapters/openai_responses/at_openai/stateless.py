"""The stateless path at OpenAI: nothing is stored, and reasoning goes back encrypted."""

from __future__ import annotations

from ..stateless import ResponsesStateless
from .provider import OpenAIResponses


class OpenAIResponsesStateless(ResponsesStateless, OpenAIResponses):
    """`complete()` for OpenAI's Responses API. One object serves any number of conversations and threads."""
