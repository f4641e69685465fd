"""What all ways of asking Copilot have in common: the key, the session token, the client, questions about the service.

The official `openai` SDK is pointed at Copilot, which speaks OpenAI's two APIs: streams, types and errors are the
SDK's. What OpenAI has not is here: the session token, exchanged before a request that needs another and once more where
the service refuses it, and the headers of an editor. An `openai.OpenAI` of its own goes with each session token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Protocol, TypeVar
from uuid import uuid4

import httpx2
import openai

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, TransportError, UsageError
from turnproof.messages import Message

from ..._errors import Secret
from ..._http import Connection, client_arguments, timeouts
from ..._interrupt import make_cuttable
from ..._lifecycle import KeyChecks
from ..._open_provider import read_api_key
from ...openai.calling import OpenAIErrorMapper
from ...openai.client import Client
from ...openai.lifecycle import Way
from .address import api_of, base_of, token_url_of
from .errors import from_status
from .exchange import exchange_token
from .headers import Editor, RequestHeaders
from .tokens import Session, Tokens

T = TypeVar("T")

KEYS = ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
"""Where a GitHub token may stand, in the order of GitHub's own command line for Copilot."""


class Simple(Protocol):
    """The part of a caller that makes other requests than conversations."""

    def __call__(self, ask: Callable[[], T], token: CancelToken | None = None) -> T: ...


class CopilotProvider(KeyChecks):
    """A provider at Copilot. `initialize`, then `connect`, then calls; `shutdown` ends it."""

    name = "copilot"
    path: str
    """Where this provider's conversations go; its models are those that are served there."""

    _simple: Simple
    _timeouts: httpx2.Timeout

    def __init__(self) -> None:
        super().__init__()
        self._http: httpx2.Client | None = None
        self._request_headers = RequestHeaders()
        # All of these come with it, and nobody asks for them before.
        self._tokens: Tokens
        self._base: str | None
        self._key: str
        self._editor: Editor
        self._request_id: Callable[[], object]
        self._at: tuple[Session, openai.OpenAI] | None = None

    def _open_copilot(self, config: Mapping[str, Any]) -> OpenAIErrorMapper:
        """Take the settings that every provider here has; opens no connection. What failures mean is given back."""
        key = read_api_key(config, *KEYS)
        connection = Connection.from_settings(config)
        base = base_of(connection.base_url)
        token_url = token_url_of(config.get("token_url"), base)
        editor = Editor.from_settings(config)
        http = make_cuttable(
            httpx2.Client(limits=openai.DEFAULT_CONNECTION_LIMITS, **client_arguments(connection, base))
        )
        self.shutdown()
        self._key, self._base, self._editor = key, base, editor
        self._request_id = config.get("request_ids") or uuid4
        self._timeouts = timeouts(connection.silence)
        exchange = partial(exchange_token, http, token_url, key, editor.headers)
        self._tokens = Tokens(exchange, config.get("clock") or time.monotonic)
        self._http = http
        return OpenAIErrorMapper(self._secrets, from_status)

    @property
    def is_connected(self) -> bool:
        """Whether calls can be made: initialized, a model chosen, not shut down."""
        return self._http is not None and self._model is not None

    def shutdown(self) -> None:
        """Close all connections. Calls made afterwards raise UsageError."""
        http, self._http, self._at = self._http, None, None
        if http is not None:
            http.close()

    def list_models(self) -> list[str]:
        """Ids of the models that are served on this provider's path, as the service lists them."""
        way = self._way((), None)
        return self._simple(partial(way, self._served_models))

    def _check_key(self) -> None:
        self.list_models()

    def _served_models(self, client: openai.OpenAI, headers: Mapping[str, str]) -> list[str]:
        return [model.id for model in client.models.list(extra_headers=headers) if self._serves(model)]

    def _serves(self, model: openai.types.Model) -> bool:
        served = (model.model_extra or {}).get("supported_endpoints")
        return not isinstance(served, list) or self.path in served

    def _way(self, messages: Sequence[Message], token: CancelToken | None) -> Way:
        """The way for a request of this conversation, with a session token that has time left.

        Raises UsageError where the provider is not open, ProviderError where no token is to be had, and Cancelled.
        """
        if self._http is None:
            raise UsageError("the provider is not open: call initialize() and connect() first")
        http = self._http
        session = self._simple(lambda: self._tokens.current(token), token)
        headers = {**self._request_headers.for_conversation(messages), "X-Request-Id": str(self._request_id())}

        def way(step: Callable[[openai.OpenAI, Mapping[str, str]], T]) -> T:
            with suppress(openai.AuthenticationError):
                return step(self._client_of(http, session), headers)
            # Refused before its time, for whatever reason: another one, once. Not within a handler, where whatever is
            # raised would keep the SDK's exception, which holds the token.
            return step(self._client_of(http, self._renewed(session, token)), headers)

        return way

    def _renewed(self, refused: Session, token: CancelToken | None) -> Session:
        try:
            return self._tokens.renewed(refused, token)
        except Cancelled:
            raise TransportError("the call was cancelled while its token was exchanged") from None

    def _client_of(self, http: httpx2.Client, session: Session) -> openai.OpenAI:
        """The SDK's client for a session token."""
        at = self._at
        if at is None or at[0] is not session:
            at = self._at = session, self._opened_client(http, session)
        return at[1]

    def _opened_client(self, http: httpx2.Client, session: Session) -> openai.OpenAI:
        client = Client(
            base_url=api_of(self._base, session.api),
            api_key=session.token,
            # Not left to the SDK: it takes an HTTP client's 5 seconds for a default, and puts 600 in their place.
            timeout=self._timeouts,
            max_retries=0,
            http_client=http,
        )
        # Of the environment's variables for OpenAI (OPENAI_ORG_ID, OPENAI_PROJECT_ID, OPENAI_CUSTOM_HEADERS) none is
        # Copilot's business, and the SDK has no public way to be kept from reading them.
        client.organization = client.project = None
        client._custom_headers = self._editor.headers
        return client

    def _secrets(self) -> Secret:
        session = self._tokens.known
        return (self._key,) if session is None else (session.token, self._key)
