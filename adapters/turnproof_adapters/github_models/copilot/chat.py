"""Copilot's `/chat/completions`, for all models but the codex ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._open_provider import positive_setting
from ...openai.calling import Caller
from ...openai.lifecycle import OpenAIProvider
from ...openai.request import thinking_effort
from ...openai.service import Service
from .lifecycle import CopilotProvider
from .models import model as facts_of

COPILOT = Service(facts=facts_of, thoughts_back=True)
"""Copilot speaks the API in its own way: the thinking of Claude comes in `reasoning_text`, sealed in
`reasoning_opaque`, and goes back with it (`openai-chat.md` §6)."""


class CopilotChat(CopilotProvider, OpenAIProvider):
    """Common ground of the two paths."""

    path = "/chat/completions"

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection. They are those of `CopilotResponses.initialize`, and
        `context_tokens`, the window of the model where Copilot takes more than it usually does.
        """
        effort, max_tokens = thinking_effort(config.get("thinking")), positive_setting(config, "max_tokens")
        window = positive_setting(config, "context_tokens")
        typing = self._open_copilot(config)
        self._service, self._extra, self._effort = COPILOT, {}, effort
        self._max_tokens, self._window = max_tokens, window
        self._caller = Caller(COPILOT, typing)
        self._simple = self._caller.simple
