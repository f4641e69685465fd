"""What both paths are apart from a conversation: configuration, connection, and questions about the service."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anthropic
import httpx2
from anthropic.pagination import SyncPage
from anthropic.types import ModelInfo

from .._caching import CachePluginHolder
from .._calling import Prompt
from .._http import Connection, timeouts
from .._lifecycle import KeyChecks, TokenCounts
from .._names import tool_names
from .._open_provider import find_api_key, positive_setting, read_api_key
from .calling import Caller
from .client import open_client
from .names import restorer
from .parts import Restore
from .plain_conversation import arrange_messages
from .request import Settings
from .service import ANTHROPIC, ServiceProvider


class AnthropicProvider(CachePluginHolder, TokenCounts, KeyChecks, ServiceProvider[anthropic.Anthropic]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = ANTHROPIC.name

    def __init__(self) -> None:
        super().__init__()
        # Both come with the client, and nobody asks for them before.
        self._caller: Caller
        self._timeouts: httpx2.Timeout
        self._thinking: dict[str, Any] | None = None
        self._max_tokens: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key` is needed, here or in an environment variable of the service. `base_url`, `thinking` (as for
        `set_thinking_config`), `max_tokens`, `timeout` (seconds of silence that end a call), `ssl_context` and
        `transport` (an httpx2 transport, for tests) may be left out. Other keys belong to other adapters and are
        ignored.
        """
        service, connection = self.service, Connection.from_settings(config)
        api_key = (read_api_key if service.keyless is None else find_api_key)(config, *service.key_variables)
        self.shutdown()
        # Left out, it is the service's own choice.
        self._thinking = service.thinking(config["thinking"]) if "thinking" in config else None
        self._max_tokens = positive_setting(config, "max_tokens")
        self._timeouts = timeouts(connection.silence)
        self._caller = Caller(service, api_key or "")
        self._client = open_client(connection, service.address, api_key or service.keyless or "")

    def list_models(self) -> list[str]:
        """Ids of all models that the key may use, newest first, as the service lists them."""
        client = self._require_client()
        return self._caller.simple(lambda: [model.id for model in self._first_page(client, 1000)])

    def _count_tokens(self, prompt: Prompt) -> int | None:
        if not self.service.counts:
            return None
        client, kwargs = self._require_client(), self._kwargs(prompt)
        del kwargs["max_tokens"]
        # The service counts what it would have cached, too.
        return self._caller.simple(lambda: client.messages.count_tokens(**kwargs).input_tokens)

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Switch thinking on (`{"budget_tokens": n}`, `{"type": "adaptive"}`) or off (None) for later calls."""
        self._thinking = self.service.thinking(config)

    def _close_client(self, client: anthropic.Anthropic) -> None:
        client.close()

    def _check_key(self) -> None:
        client = self._require_client()
        self._caller.simple(lambda: self._first_page(client, 1))

    def _first_page(self, client: anthropic.Anthropic, limit: int) -> SyncPage[ModelInfo]:
        """The first page of the models; going through it asks for the others."""
        answer = client.models.with_raw_response.list(limit=limit)
        # Of what is no JSON object the SDK would make an AttributeError.
        self._caller.refuse_nonsense(answer.http_response.content)
        return answer.parse()

    def _restorer(self, prompt: Prompt) -> Restore:
        """What brings a call back into the caller's terms."""
        own = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return lambda name, wire_input: (own(name), wire_input)

    def _settings(self) -> Settings:
        return Settings(self.service, self._require_model(), self._max_tokens, self._thinking)

    def _kwargs(self, prompt: Prompt) -> dict[str, Any]:
        """A request as plain data for the SDK's own calls."""
        settings = self._settings()
        arrangement = arrange_messages(prompt.messages, self.service, settings.model)
        think = settings.thinks_before(loop_lacks_thinking=arrangement.loop_lacks_thinking)
        fields = settings.kwargs(prompt, think=think)
        return {**fields, "messages": arrangement.finish()}
