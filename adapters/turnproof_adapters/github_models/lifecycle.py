"""What both paths are apart from a conversation: configuration, connection, and questions about the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from azure.ai.inference import ChatCompletionsClient
from azure.core.rest import HttpRequest

from .._http import Connection
from .._lifecycle import ClientProvider, KeyChecks
from .._open_provider import positive_setting, read_api_key
from ..openai.models import Model
from ..openai.models import model as facts_of
from ..openai.request import Settings, thinking_effort
from ..openai.service import Service
from .calling import Caller
from .client import address, catalogue_of, open_client

GITHUB = Service()
"""GitHub Models takes OpenAI's models as OpenAI does, and others' in the older words."""


class Listed(msgspec.Struct, frozen=True):
    """A model in the catalogue."""

    id: str


_catalogue = msgspec.json.Decoder(list[Listed])


class GitHubModelsProvider(KeyChecks, ClientProvider[ChatCompletionsClient]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "github_models"

    def __init__(self) -> None:
        super().__init__()
        # These come with the client, and nobody asks for them before.
        self._caller: Caller
        self._endpoint: str
        self._effort: str | None = None
        self._max_tokens: int | None = None
        self._window: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key`, a GitHub token with the permission `models:read`, is needed, here or as GITHUB_TOKEN or GH_TOKEN.
        These may be left out: `base_url`; `thinking` (as for `set_thinking_config`); `max_tokens` for an answer;
        `context_tokens` (what the tier, or a model that is not OpenAI's, takes); `timeout` (seconds of silence that end
        a call); `ssl_context` and `transport` (an httpx2 transport, for tests). Other keys belong to other adapters and
        are ignored.
        """
        api_key = read_api_key(config, "GITHUB_TOKEN", "GH_TOKEN")
        connection = Connection.from_settings(config)
        effort = thinking_effort(config.get("thinking"))
        max_tokens, window = positive_setting(config, "max_tokens"), positive_setting(config, "context_tokens")
        self.shutdown()
        self._effort, self._max_tokens, self._window = effort, max_tokens, window
        self._endpoint = address(connection.base_url)
        self._caller = Caller(GITHUB, api_key)
        self._client = open_client(connection, api_key)

    def list_models(self) -> list[str]:
        """Ids of the models in the catalogue, in the service's order."""
        client = self._require_client()
        return self._caller.simple(lambda: [each.id for each in self._catalogue(client)])

    def get_context_limit(self) -> int:
        """The model's window in tokens: the setting `context_tokens`, or what is known of the model, or 0."""
        return self._window or super().get_context_limit()

    @property
    def _facts(self) -> Model:
        return facts_of(self._model)

    def _close_client(self, client: ChatCompletionsClient) -> None:
        client.close()

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Say how much to think in later calls (`{"effort": "low"}`, `{"budget_tokens": n}`), or leave it to the model
        (None)."""
        self._effort = thinking_effort(config)

    def _catalogue(self, client: ChatCompletionsClient) -> list[Listed]:
        response = client.send_request(HttpRequest("GET", catalogue_of(self._endpoint)))
        response.raise_for_status()
        return _catalogue.decode(response.content)

    def _settings(self) -> Settings:
        return Settings(self._require_model(), GITHUB, self._max_tokens, self._effort)
