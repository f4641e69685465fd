"""From an endpoint to a ready provider: the settings that every adapter takes, and where a key may come from.

Bindings are imported without any SDK: their openers name the class of a provider, and import it when they are called.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol, TypeVar

from turnproof.errors import AuthenticationError, UsageError
from turnproof.messages import Message, ToolSchema
from turnproof.provider import Capabilities, Conversation, Difference, Endpoint, PlainCall, SystemInstruction


def read_api_key(config: Mapping[str, Any], *variables: str) -> str:
    """The key: the setting `api_key`, or the first of these environment variables that is set. No other place is looked
    at. Raises AuthenticationError where there is none."""
    if key := find_api_key(config, *variables):
        return key
    raise AuthenticationError(f"an API key is needed: pass `api_key`, or set {' or '.join(variables)}")


def find_api_key(config: Mapping[str, Any], *variables: str) -> str | None:
    """The same for a service that may need none."""
    return next((str(key) for key in (config.get("api_key"), *map(os.environ.get, variables)) if key), None)


def positive_setting(config: Mapping[str, Any], name: str) -> int | None:
    """A setting that is a positive integer, or None where it is left out. Raises UsageError for anything else."""
    value = config.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1):
        return value
    raise UsageError(f"{name} must be a positive integer, got {value!r}")


class Openable(Protocol):
    """What every provider can be asked before its first call."""

    def initialize(self, config: Mapping[str, Any], /) -> None: ...

    def connect(self, model: str, /) -> None: ...


class Conversing(Openable, Protocol):
    """A provider that owns the history."""

    def create_session(
        self,
        system_instruction: SystemInstruction = None,
        tools: Sequence[ToolSchema] | None = None,
        history: Sequence[Message] | None = None,
    ) -> None: ...


S = TypeVar("S", bound=Openable)
L = TypeVar("L", bound=Conversing)


def open_provider(provider: S, endpoint: Endpoint) -> S:
    """The provider, ready for its first call. The endpoint's options are further settings."""
    tls = {} if endpoint.ssl_context is None else {"ssl_context": endpoint.ssl_context}
    settings = {**tls, **endpoint.options}
    provider.initialize({**settings, "base_url": endpoint.base_url, "api_key": endpoint.api_key})
    provider.connect(endpoint.model)
    return provider


def open_with_session(provider: L, endpoint: Endpoint) -> L:
    """The same for a provider that owns the history, with an empty conversation."""
    open_provider(provider, endpoint).create_session()
    return provider


DECODER_WORDS = Difference(
    "error-words",
    "The text of an error about a chunk that is not JSON comes from the decoder: the SDK's on the legacy path, our own "
    "on the stateless path. Class, status and whether to retry are the same.",
)
"""How the paths differ in the words of one failure, at every service."""

KEPT_BY_THE_SERVICE = Difference(
    "kept-by-the-service",
    "On the legacy path the service keeps the conversation: a request names the last answer and sends what is new, and "
    "`delete` is asked of the service. The stateless path sends all of it, and has nothing stored.",
)
"""How the paths differ where the legacy one is a chain of stored answers."""

KEPT_BY_THE_CONNECTION = Difference(
    "kept-by-the-service",
    "On the legacy path the connection holds the conversation: a request names the last answer and sends what is new. "
    "The stateless path sends all of it.",
)
"""The same where the chain is in the memory of a connection, and nothing is stored."""

COMMON_CAPABILITIES = Capabilities(
    streaming=True,
    tools=True,
    parallel_tools=True,
    cancel=True,
    cancel_batch=True,
    typed_errors=True,
    error_details=True,
    thinking_tokens=True,
    lifecycle=True,
    serialisers=True,
)
"""What adapters claim for most models; a binding replaces and adds what its models can."""

ALL_CONTENT_CAPABILITIES = replace(
    COMMON_CAPABILITIES, images=True, documents=True, result_images=True, service_tools=True
)
"""The same for models that take files of every kind, at a service that runs tools of its own."""


@dataclass(frozen=True)
class _LazyClass:
    """A class that is imported when it is needed, given as `module:Class`."""

    address: str

    def _load(self) -> Any:
        module, _, name = self.address.partition(":")
        return getattr(import_module(module), name)


class StatelessOpener(_LazyClass):
    """Opens a provider of a stateless path, ready for its first call."""

    def __call__(self, endpoint: Endpoint) -> Any:
        return open_provider(self._load()(), endpoint)


class LegacyOpener(_LazyClass):
    """Opens a provider of a legacy path, with an empty conversation."""

    def __call__(self, endpoint: Endpoint) -> Any:
        return open_with_session(self._load()(), endpoint)


class PlainCallOpener(_LazyClass):
    """Opens a call of the official SDK, which the paths are measured against."""

    def __call__(self, endpoint: Endpoint, conversation: Conversation) -> PlainCall:
        call: PlainCall = self._load()(endpoint, conversation)
        return call
