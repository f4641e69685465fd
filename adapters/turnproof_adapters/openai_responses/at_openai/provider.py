"""What both paths are apart from a conversation: settings, the client, and questions about the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import Message

from ..._http import Connection, timeouts
from ..._lifecycle import ClientProvider, KeyChecks
from ..._open_provider import read_api_key
from ...openai.calling import Typing
from ...openai.client import open_client
from ...openai.lifecycle import Way
from ..calling import Caller
from ..lifecycle import ResponsesProvider


class OpenAIResponses(KeyChecks, ClientProvider[openai.OpenAI], ResponsesProvider):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "openai_responses"

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key` is needed, here or as OPENAI_API_KEY. These may be left out: `base_url`; `thinking` (as for
        `set_thinking_config`); `max_tokens` for an answer; `timeout` (seconds of silence that end a call);
        `ssl_context` and `transport` (an httpx2 transport, for tests). Other keys belong to other adapters and are
        ignored.
        """
        api_key = read_api_key(config, "OPENAI_API_KEY")
        connection = Connection.from_settings(config)
        super().initialize(config)
        self.shutdown()
        self._timeouts = timeouts(connection.silence)
        self._caller = Caller(Typing(lambda: (api_key,)))
        self._client = open_client(connection, api_key, {}, {})

    def list_models(self) -> list[str]:
        """Ids of all models that the key may use, in the service's order."""
        client = self._require_client()
        return self._caller.simple(lambda: [model.id for model in client.models.list()])

    def _check_key(self) -> None:
        self._caller.simple(self._require_client().models.list)

    def _close_client(self, client: openai.OpenAI) -> None:
        client.close()

    def _way(self, messages: Sequence[Message], token: CancelToken | None) -> Way:
        """The way to the service for a request of this conversation. Raises UsageError where it is not open."""
        client = self._require_client()
        return lambda step: step(client, {})
