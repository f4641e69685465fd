"""What both paths over WebSockets are apart from a conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import openai

from turnproof.errors import UsageError

from ..._http import Connection
from .provider import OpenAIResponses
from .socket import Sockets


class OpenAIResponsesOverSocket(OpenAIResponses):
    """Answers come over WebSockets; everything else that a provider asks for goes over HTTP."""

    def __init__(self) -> None:
        super().__init__()
        self._sockets: Sockets | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings, as over HTTP; opens no connection. `transport` replaces the network of HTTP alone."""
        super().initialize(config)
        self._sockets = Sockets(self._require_client(), Connection.from_settings(config))

    def _require_sockets(self) -> Sockets:
        """The sockets. Raises UsageError where the provider is not open."""
        self._require_client()
        if self._sockets is None:
            raise UsageError("the provider is not open: call initialize() and connect() first")
        return self._sockets

    def _close_client(self, client: openai.OpenAI) -> None:
        if self._sockets is not None:
            self._sockets.close()
            self._sockets = None
        super()._close_client(client)
