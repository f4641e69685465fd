"""What both paths are apart from a conversation: configuration, connection, and questions about the service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import httpx2
from google import genai

from turnproof.cancel import CancelToken

from .._calling import Caller, Prompt
from .._encoded_messages import encode
from .._http import Connection
from .._lifecycle import ClientProvider, KeyChecks, TokenCounts
from .._open_provider import positive_setting, read_api_key
from . import errors
from .arrange import contents
from .assemble import stands_alone
from .client import open_client
from .models import Model, target
from .models import model as facts_of
from .settings import Settings, thinking_config
from .splice import STUB, carrying, supported

T = TypeVar("T")


class GoogleProvider(TokenCounts, KeyChecks, ClientProvider[genai.Client]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "google_genai"

    @property
    def telemetry_name(self) -> str:
        """The service that is called: Vertex AI, or Gemini as AI Studio serves it."""
        return "gcp.vertex_ai" if self._vertex else "gcp.gemini"

    def __init__(self) -> None:
        super().__init__()
        self._http: httpx2.Client | None = None
        self._secret = ""
        self._vertex = False
        self._thinking: dict[str, Any] | None = None
        self._max_tokens: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key` is needed, here or as GEMINI_API_KEY or GOOGLE_API_KEY. `base_url`, `vertexai` (`{"project",
        "location"}`; the key is then a bearer token), `thinking` (as for `set_thinking_config`), `max_tokens`,
        `timeout` (seconds of silence that end a call), `ssl_context` and `transport` (an httpx2 transport, for tests)
        may be left out. Other keys belong to other adapters and are ignored.
        """
        api_key = read_api_key(config, "GEMINI_API_KEY", "GOOGLE_API_KEY")
        self.shutdown()
        self._thinking = thinking_config(config.get("thinking"))
        self._max_tokens = positive_setting(config, "max_tokens")
        self._secret = api_key
        self._vertex = config.get("vertexai") is not None
        self._client, self._http = open_client(
            Connection.from_settings(config), api_key, vertexai=config.get("vertexai")
        )

    def list_models(self) -> list[str]:
        """Ids of all models that the key may use, as the service lists them."""
        client = self._require_client()
        named = self._simple(lambda: [model.name for model in client.models.list(config={"page_size": 1000})])
        return [name.removeprefix("models/") for name in named if name]

    def _count_tokens(self, prompt: Prompt) -> int | None:
        client, settings = self._require_client(), self._settings()
        if not supported():
            return None
        request = {
            "contents": contents(prompt.messages, target(settings.model)),
            **settings.fields(prompt),
        }
        if not self._vertex:
            # The SDK has no way to say this: beside `contents` the Gemini API takes neither system text nor tools.
            name = f"models/{settings.model.removeprefix('models/')}"
            request = {"generateContentRequest": {"model": name, **request}}
        return self._simple(partial(_count, client, settings.model, encode(request)))

    @property
    def _facts(self) -> Model:
        return facts_of(self._model)

    def _close_client(self, client: genai.Client) -> None:
        http, self._http = self._http, None
        if http is not None:
            http.close()

    def _check_key(self) -> None:
        client = self._require_client()
        self._simple(lambda: client.models.list(config={"page_size": 1}))

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Have later calls show thinking (`{"budget_tokens": n}`, `{"level": "low"}`) or hide it (None)."""
        self._thinking = thinking_config(config)

    def _settings(self) -> Settings:
        return Settings(self._require_model(), self._max_tokens, self._thinking)

    def _caller(self, cache: str | None = None) -> Caller:
        """Makes calls; `cache` is the managed cache that they name."""
        typed = partial(errors.from_exception, secret=self._secret, cache=cache)
        return Caller(errors.FAILURES, typed, stands_alone)

    def _simple(self, ask: Callable[[], T], token: CancelToken | None = None) -> T:
        return self._caller().simple(ask, token)


def _count(client: genai.Client, model: str, body: bytes) -> int:
    with carrying(body):
        return client.models.count_tokens(model=model, contents=STUB).total_tokens or 0
