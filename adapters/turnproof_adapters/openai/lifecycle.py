"""What both paths are apart from a conversation: configuration, connection, and questions about the service."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import httpx2
import openai

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.messages import Message

from .._caching import CachePluginHolder
from .._calling import Prompt
from .._http import Connection, timeouts
from .._lifecycle import ClientProvider, KeyChecks, ModelFacts
from .._open_provider import positive_setting, read_api_key
from . import convert
from .arrange import Arrangement
from .calling import Caller, OpenAIErrorMapper
from .client import open_client
from .request import Settings, extra_fields, thinking_effort
from .rows import row
from .service import OPENAI, Service

T = TypeVar("T")


class Way(Protocol):
    """How a request gets to a service.

    It is told what to do with an open client of the SDK and the headers that the request needs besides, and may do it
    once more, with another client, where the service asks for that.
    """

    def __call__(self, step: Callable[[openai.OpenAI, Mapping[str, str]], T], /) -> T: ...


class OpenAIProvider(CachePluginHolder, KeyChecks, ClientProvider[openai.OpenAI]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "openai"

    def __init__(self) -> None:
        super().__init__()
        # Both come with the client, and nobody asks for them before.
        self._caller: Caller
        self._timeouts: httpx2.Timeout
        self._service = OPENAI
        self._extra: dict[str, Any] = {}
        self._effort: str | None = None
        self._max_tokens: int | None = None
        self._window: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        `api_key` is needed, here or as OPENAI_API_KEY; for a server that asks for none, any word will do. These may be
        left out: `base_url`; `thinking` (as for `set_thinking_config`); `max_tokens` for an answer; `timeout` (seconds
        of silence that end a call); `headers`, `query` and `extra_body` (sent with every request: what an endpoint
        wants besides); `instructions_role` (`system` or `developer`), `limit_field` (`max_tokens` or
        `max_completion_tokens`) and `thoughts_back` (see `Service`); `context_tokens` (the window of a model that is
        not OpenAI's); `ssl_context` and `transport` (an httpx2 transport, for tests). Other keys belong to other
        adapters and are ignored.
        """
        api_key = read_api_key(config, "OPENAI_API_KEY")
        connection = Connection.from_settings(config)
        service = _service(config)
        extra = extra_fields(config.get("extra_body"))
        effort = thinking_effort(config.get("thinking"))
        max_tokens, window = positive_setting(config, "max_tokens"), positive_setting(config, "context_tokens")
        self.shutdown()
        self._service, self._extra, self._effort = service, extra, effort
        self._max_tokens, self._window = max_tokens, window
        self._timeouts = timeouts(connection.silence)
        headers, query = config.get("headers") or {}, config.get("query") or {}
        secrets = (api_key, *_credentials(query), *_credentials(headers))
        self._caller = Caller(service, OpenAIErrorMapper(lambda: secrets))
        self._client = open_client(connection, api_key, headers, query)

    def list_models(self) -> list[str]:
        """Ids of all models that the key may use, in the service's order."""
        client = self._require_client()
        return self._caller.simple(lambda: [model.id for model in client.models.list()])

    def get_context_limit(self) -> int:
        """The model's window in tokens: the setting `context_tokens`, or what is known of the model, or 0."""
        return self._window or super().get_context_limit()

    @property
    def _facts(self) -> ModelFacts:
        return self._service.facts(self._model)

    def _close_client(self, client: openai.OpenAI) -> None:
        client.close()

    def _check_key(self) -> None:
        self._caller.simple(self._require_client().models.list)

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Say how much to think in later calls (`{"effort": "low"}`, `{"budget_tokens": n}`), or leave it to the model
        (None)."""
        self._effort = thinking_effort(config)

    def _way(self, messages: Sequence[Message], token: CancelToken | None) -> Way:
        """The way to the service for a request of this conversation. Raises UsageError where it is not open."""
        client = self._require_client()
        return lambda step: step(client, {})

    def _settings(self) -> Settings:
        return Settings(self._require_model(), self._service, self._max_tokens, self._effort)

    def _kwargs(self, prompt: Prompt, *, stream: bool = False) -> dict[str, Any]:
        """A request as plain data for the SDK's own call."""
        settings = self._settings()
        arrangement: Arrangement[dict[str, Any]] = Arrangement(_as_it_is, settings.service, settings.model)
        for message in prompt.messages:
            arrangement.add(row(message, _as_it_is, settings.service, settings.model))
        first = convert.system(prompt.system, settings.service)
        sent = arrangement.finish()
        return {
            "model": settings.model,
            "messages": sent if first is None else [first, *sent],
            **settings.fields(prompt.tools, prompt.response_schema, stream=stream),
        }


def _as_it_is(wire: dict[str, Any]) -> dict[str, Any]:
    return wire


def _credentials(credentials: Mapping[str, str]) -> Iterator[str]:
    """The headers and query parameters that an endpoint may know a caller by."""
    for name, value in credentials.items():
        if any(word in name.lower() for word in ("auth", "key", "token")):
            yield str(value)


def _service(config: Mapping[str, Any]) -> Service:
    instructions, limit = config.get("instructions_role", "system"), config.get("limit_field")
    if instructions not in ("system", "developer"):
        raise UsageError(f"instructions_role must be 'system' or 'developer', got {instructions!r}")
    if limit not in (None, "max_tokens", "max_completion_tokens"):
        raise UsageError(f"limit_field must be 'max_tokens' or 'max_completion_tokens', got {limit!r}")
    return Service(instructions=instructions, limit=limit, thoughts_back=bool(config.get("thoughts_back")))
