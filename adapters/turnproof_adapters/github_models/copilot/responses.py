"""Copilot's `/responses`, where its codex models are served and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...openai_responses.calling import Caller
from ...openai_responses.lifecycle import ResponsesProvider
from .lifecycle import CopilotProvider


class CopilotResponses(CopilotProvider, ResponsesProvider):
    """Common ground of the two paths."""

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
        self._caller = Caller(self._open_copilot(config))
        self._simple = self._caller.simple
