"""What both paths are apart from a conversation: configuration, connection, and questions about the service."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import httpx2
import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError

from .._calling import Prompt
from .._decoding import decode_json
from .._encoded_messages import encode
from .._http import Connection
from .._lifecycle import ClientProvider, KeyChecks, TokenCounts
from .._open_provider import positive_setting, read_api_key
from ..google_genai.arrange import contents
from ..google_genai.settings import Fields, thinking_config
from .accounts import Access, Account, Accounts, accounts_of
from .client import open_client
from .gateway import HOSTS, Gateway
from .models import Model, target
from .models import model as facts_of
from .oauth import TOKEN_URL, Client
from .projects import project_of
from .request import Settings, base


class _Models(msgspec.Struct, frozen=True):
    models: dict[str, Any] | None = None


class _Count(msgspec.Struct, frozen=True, rename="camel"):
    total_tokens: int | None = None


class AntigravityProvider(TokenCounts, KeyChecks, ClientProvider[Gateway]):
    """Common ground of the two paths. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "antigravity"

    @property
    def telemetry_name(self) -> str:
        """The service that is called: Google's, in the conventions' words for its generative services."""
        return "gcp.gen_ai"

    def __init__(self) -> None:
        super().__init__()
        self._thinking: dict[str, Any] | None = None
        self._max_tokens: int | None = None
        self._sleep: Any = time.sleep

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        Who asks: `accounts`, a list of objects with a `refresh_token` or an `access_token` (that is good until
        `expires_at`, in seconds since 1970) or both, and a `project`, which is asked for where it is left out. Refresh
        tokens need the `client_id` and `client_secret` of the program that they were issued to, and are exchanged at
        `token_url`. Without accounts `api_key`, or GOOGLE_CLOUD_ACCESS_TOKEN, is the access token of the only one, and
        `project` its project.

        Who is asked: `base_url`, or CODE_ASSIST_ENDPOINT, and after it `fallback_urls`, in order; without them the
        hosts that Antigravity asks.

        `thinking` (as for `set_thinking_config`), `max_tokens`, `timeout` (seconds of silence that end a call),
        `user_agent`, `ssl_context`, `transport` (an httpx2 transport), `clock` and `sleep` (both for tests) may be left
        out. Other keys belong to other adapters and are ignored.
        """
        accounts, client = _accounts(config), _client(config)
        if any(account.refresh_token for account in accounts) and not (client.id and client.secret):
            raise UsageError("accounts with a refresh_token need the settings client_id and client_secret")
        hosts, clock = _hosts(config), config.get("clock") or time.time
        connection = Connection.from_settings(config)
        self.shutdown()
        self._thinking = thinking_config(config.get("thinking"))
        self._max_tokens = positive_setting(config, "max_tokens")
        self._sleep = config.get("sleep") or time.sleep
        http = open_client(connection, hosts[0], config.get("user_agent"))
        self._client = Gateway(http, hosts, Accounts(accounts, clock), client, clock)

    def list_models(self) -> list[str]:
        """Ids of all models that an account may ask, as the service lists them."""
        return list(self._ask_service("fetchAvailableModels", {}, _Models).models or ())

    def _count_tokens(self, prompt: Prompt) -> int:
        """The service counts contents alone (router-for-me/CLIProxyAPI#840): system text and tools are shown to it as
        contents, which counts their words.
        """
        settings = self._settings()
        around = settings.fields(prompt)
        shown = [*around.get("systemInstruction", {}).get("parts", ())]
        shown += [{"text": encode(each).decode()} for each in around.get("tools", ())]
        counted = [{"role": "user", "parts": shown}] if shown else []
        counted += contents(prompt.messages, target(settings.model))
        payload = {"request": {"model": f"models/{settings.model}", "contents": counted}}
        return self._ask_service("countTokens", payload, _Count).total_tokens or 0

    @property
    def _facts(self) -> Model:
        return facts_of(self._model)

    def _close_client(self, client: Gateway) -> None:
        client.http.close()

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Have later calls show thinking (`{"budget_tokens": n}`, `{"level": "low"}`) or hide it (None)."""
        self._thinking = thinking_config(config)

    def _settings(self) -> Settings:
        return Settings(self._require_model(), self._max_tokens, self._thinking)

    def _project(self, account: Account, token: CancelToken | None) -> str:
        return project_of(self._require_client(), account, token, self._sleep)

    def _ask_service(self, verb: str, body: Fields, kind: type[Any]) -> Any:
        """What the service says to a request that has to do with no conversation."""
        gateway, decoder = self._require_client(), msgspec.json.Decoder(kind)

        def send(host: str, bearer: str, _: str | None) -> httpx2.Response:
            headers = {"authorization": f"Bearer {bearer}"}
            return gateway.http.post(f"{host}/v1internal:{verb}", json=body, headers=headers)

        def ask() -> Any:
            return decode_json(decoder, gateway.ask_accounts(send, self._model or "", None).content)

        return gateway.caller.simple(ask)


def _accounts(config: Mapping[str, Any]) -> list[Account]:
    if config.get("accounts") is not None:
        return accounts_of(config["accounts"])
    return [Account(access=Access(read_api_key(config, "GOOGLE_CLOUD_ACCESS_TOKEN")), project=config.get("project"))]


def _client(config: Mapping[str, Any]) -> Client:
    own_id, secret = config.get("client_id") or "", config.get("client_secret") or ""
    return Client(config.get("token_url") or TOKEN_URL, own_id, secret)


def _hosts(config: Mapping[str, Any]) -> list[str]:
    first = config.get("base_url") or os.environ.get("CODE_ASSIST_ENDPOINT")
    more = config.get("fallback_urls") or ()
    return [base(host) for host in ((first, *more) if first else more or HOSTS)]
