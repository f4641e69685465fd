"""What both paths are apart from a conversation: settings, the client, and questions about the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2
from google import genai

from .._http import Connection
from .._lifecycle import ClientProvider, KeyChecks
from .._open_provider import positive_setting, read_api_key
from ..google_genai.client import open_client
from .calling import Caller
from .errors import InteractionsErrorMapper
from .models import Model
from .models import model as facts_of
from .request import Settings, thinking_config


class InteractionsProvider(KeyChecks, ClientProvider[genai.Client]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "google_interactions"
    telemetry_name = "gcp.gemini"

    _caller: Caller

    def __init__(self) -> None:
        super().__init__()
        self._http: httpx2.Client | None = None
        self._thinking: dict[str, Any] | None = None
        self._max_tokens: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key` is needed, here or as GEMINI_API_KEY or GOOGLE_API_KEY. These may be left out: `base_url`; `thinking`
        (as for `set_thinking_config`); `max_tokens` for an answer; `timeout` (seconds of silence that end a call);
        `ssl_context` and `transport` (an httpx2 transport, for tests). Other keys belong to other adapters and are
        ignored.
        """
        api_key = read_api_key(config, "GEMINI_API_KEY", "GOOGLE_API_KEY")
        self.shutdown()
        self._thinking = thinking_config(config.get("thinking"))
        self._max_tokens = positive_setting(config, "max_tokens")
        self._caller = Caller(InteractionsErrorMapper(api_key))
        self._client, self._http = open_client(Connection.from_settings(config), api_key, attempts=1)

    def list_models(self) -> list[str]:
        """Ids of all models that the key may use, as the service lists them."""
        client = self._require_client()
        named = self._caller.simple(lambda: [model.name for model in client.models.list(config={"page_size": 1000})])
        return [name.removeprefix("models/") for name in named if name]

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Have later calls tell what the model thinks (`{"level": "low"}`), or not (None)."""
        self._thinking = thinking_config(config)

    @property
    def _facts(self) -> Model:
        return facts_of(self._model)

    def _check_key(self) -> None:
        client = self._require_client()
        self._caller.simple(lambda: client.models.list(config={"page_size": 1}))

    def _close_client(self, client: genai.Client) -> None:
        http, self._http = self._http, None
        if http is not None:
            http.close()

    def _settings(self) -> Settings:
        return Settings(self._require_model(), self._max_tokens, self._thinking)
