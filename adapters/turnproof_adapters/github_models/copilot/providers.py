"""The providers of Copilot's two addresses: `/responses` serves its codex models, `/chat/completions` all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._open_provider import positive_setting
from ...openai.calling import Caller as ChatCaller
from ...openai.lifecycle import OpenAIProvider
from ...openai.request import thinking_effort
from ...openai.service import Service
from ...openai_responses.calling import Caller as ResponsesCaller
from ...openai_responses.lifecycle import ResponsesProvider
from .lifecycle import CopilotProvider
from .models import model as facts_of

COPILOT = Service(facts=facts_of, thoughts_back=True)
"""Copilot speaks the API in its own way: the thinking of Claude comes in `reasoning_text`, sealed in
`reasoning_opaque`, and goes back with it (`openai-chat.md` §6)."""


class CopilotChat(CopilotProvider, OpenAIProvider):
    """What both paths have in common for chat models."""

    path = "/chat/completions"

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection. They are those of `CopilotResponses.initialize`, and
        `context_tokens`, the window of the model where Copilot takes more than it usually does.
        """
        effort, max_tokens = thinking_effort(config.get("thinking")), positive_setting(config, "max_tokens")
        window = positive_setting(config, "context_tokens")
        error_mapper = self._open_copilot(config)
        self._service, self._extra, self._effort = COPILOT, {}, effort
        self._max_tokens, self._window = max_tokens, window
        self._caller = ChatCaller(COPILOT, error_mapper)
        self._simple = self._caller.simple


class CopilotResponses(CopilotProvider, ResponsesProvider):
    """What both paths have in common for codex models, which are served nowhere else."""

    path = "/responses"

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key`, a GitHub token, is needed, here or as COPILOT_GITHUB_TOKEN, GH_TOKEN or GITHUB_TOKEN. These may be
        left out: `base_url` and `token_url`; `thinking` (as for `set_thinking_config`); `max_tokens` for an answer;
        `integration_id`, `editor_version` and `editor_plugin_version` (who asks); `timeout` (seconds of silence that
        end a call); `ssl_context`; and, for tests, `transport` (an httpx2 transport), `clock` (seconds that never go
        back) and `request_ids` (called for each request's). Other keys belong to other adapters and are ignored.
        """
        super().initialize(config)
        self._caller = ResponsesCaller(self._open_copilot(config))
        self._simple = self._caller.simple
