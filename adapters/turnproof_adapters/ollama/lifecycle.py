"""What both paths are apart from a conversation, as far as it differs from Anthropic's: the server is asked on its own
API what it has."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from ipaddress import IPv6Address, ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anthropic
import httpx2

from turnproof.errors import UsageError

from ..anthropic.lifecycle import AnthropicProvider
from . import server
from .service import SERVICE

T = TypeVar("T")


class OllamaProvider(AnthropicProvider):
    """Common ground of the two paths. Comes first among the bases of a path."""

    service = SERVICE
    name = SERVICE.name

    def __init__(self) -> None:
        super().__init__()
        self._window: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings; opens no connection.

        As for Anthropic, but nothing is needed: without `base_url` the server is where OLLAMA_HOST says, or on this
        machine; `api_key`, or OLLAMA_API_KEY, is for a server behind a gateway and for Ollama's cloud.
        """
        try:
            base_url = config.get("base_url") or address_of_environment()
        except ValueError as error:
            raise UsageError(f"OLLAMA_HOST is no address: {error}") from None
        super().initialize({**config, "base_url": base_url})

    def list_models(self) -> list[str]:
        """The models that the server has pulled, by their names with tags, the latest first."""
        return self._ask_server("/api/tags", server.names)

    def _check_key(self) -> None:
        # What stands in front of the server may look at a key. A local server looks at none, and answers.
        self.list_models()

    def connect(self, model: str) -> None:
        """Choose the model that later calls use."""
        super().connect(model)
        self._window = None

    def get_context_limit(self) -> int:
        """The tokens of a prompt that the model gets to see, as far as the server says: the window that it is loaded
        with, which is then known, else the one that it is made for. 0 without a model.

        A model that is not loaded yet may get a smaller one, which the server chooses by its memory: ask again after
        the first answer.
        """
        if self._client is None or self._model is None:
            return 0
        if self._window is None:
            self._window = self._ask_server("/api/ps", partial(server.window_in_use, model=self._model))
        return self._window or self._ask_server("/api/show", server.window_of, {"model": self._model})

    def _ask_server(self, path: str, read: Callable[[bytes], T], body: Mapping[str, str] | None = None) -> T:
        """What the server's own API answers to a GET, or with a body to a POST."""
        client, options = self._require_client(), anthropic.RequestOptions(timeout=self._timeouts)

        def ask() -> T:
            if body is None:
                answer = client.get(path, cast_to=httpx2.Response, options=options)
            else:
                answer = client.post(path, body=body, cast_to=httpx2.Response, options=options)
            self._caller.refuse_nonsense(answer.content)
            return read(answer.content)

        return self._caller.simple(ask)


PORT = 11434


def address_of_environment() -> str | None:
    """The address in OLLAMA_HOST, or None where it is not set.

    Like Ollama's Python client it takes a host with or without scheme, port and path: a host alone is asked by HTTP at
    the server's usual port, one with a scheme at that of the scheme. Raises ValueError for a port that is none.
    """
    setting = os.environ.get("OLLAMA_HOST", "").strip()
    if not setting:
        return None
    scheme, mark, rest = setting.partition("://")
    if not mark:
        scheme, rest = "http", setting
    parts = urlsplit(f"{scheme}://{rest}")
    port = parts.port or ({"http": 80, "https": 443}.get(scheme, PORT) if mark else PORT)
    path = parts.path.strip("/")
    return f"{scheme}://{_bracketed(parts.hostname or '127.0.0.1')}:{port}" + (f"/{path}" if path else "")


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if isinstance(ip_address(host), IPv6Address) else host
    except ValueError:
        return host
