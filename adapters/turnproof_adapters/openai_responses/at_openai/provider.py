"""What both paths are apart from a conversation: settings, the client, and questions about the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import Message, Part, thaw
from turnproof.provider import SystemInstruction

from ..._calling import Prompt
from ..._http import Connection, timeouts
from ..._lifecycle import ClientProvider, KeyChecks
from ..._open_provider import read_api_key
from ...openai.calling import OpenAIErrorMapper
from ...openai.client import open_client
from ...openai.lifecycle import Way
from ..calling import Caller
from ..compaction import is_compaction, read_messages
from ..convert import Item
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
        self._caller = Caller(OpenAIErrorMapper(lambda: (api_key,)))
        self._client = open_client(connection, api_key, {}, {})

    def list_models(self) -> list[str]:
        """Ids of all models that the key may use, in the service's order."""
        client = self._require_client()
        return self._caller.simple(lambda: [model.id for model in client.models.list()])

    # Shorter conversations: a `turnproof.compaction.CompactingProvider`

    def compact(
        self,
        messages: Sequence[Message],
        system_instruction: SystemInstruction = None,
        *,
        cancel_token: CancelToken | None = None,
    ) -> list[Message]:
        """The service's shorter form of a conversation: what the user said, and an item that it alone can read."""
        client = self._require_client()
        fields = thaw(self._kwargs(Prompt(messages, system_instruction)))
        request = {name: fields[name] for name in ("model", "input", "instructions") if name in fields}

        def ask() -> list[Item]:
            found = client.responses.compact(**request, timeout=self._timeouts).to_dict(warnings=False)
            output = found.get("output")
            if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
                raise ValueError("the service sent no list of items where a shorter conversation belongs")
            return output

        return read_messages(self._caller.simple(ask, cancel_token), messages)

    def is_compaction(self, part: Part) -> bool:
        """Whether this is the item that has all that was said before it."""
        return is_compaction(part)

    def set_compact_threshold(self, tokens: int | None) -> None:
        """Have later answers begin with such an item where their prompt has more tokens than this; None: never."""
        self._compact_threshold = tokens

    def _check_key(self) -> None:
        self._caller.simple(self._require_client().models.list)

    def _close_client(self, client: openai.OpenAI) -> None:
        client.close()

    def _way(self, messages: Sequence[Message], token: CancelToken | None) -> Way:
        """The way to the service for a request of this conversation. Raises UsageError where it is not open."""
        client = self._require_client()
        return lambda step: step(client, {})
