"""From an endpoint to a ready provider: the settings that every adapter takes, and where a key may come from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from turnproof.errors import AuthenticationError, UsageError
from turnproof.messages import Message, ToolSchema
from turnproof.provider import Endpoint, SystemInstruction


def key_of(config: Mapping[str, Any], *variables: str) -> str:
    """The key: the setting `api_key`, or the first of these environment variables that is set. No other place is looked
    at. Raises AuthenticationError where there is none."""
    if key := key_if_any(config, *variables):
        return key
    raise AuthenticationError(f"an API key is needed: pass `api_key`, or set {' or '.join(variables)}")


def key_if_any(config: Mapping[str, Any], *variables: str) -> str | None:
    """The same for a service that may need none."""
    return next((str(key) for key in (config.get("api_key"), *map(os.environ.get, variables)) if key), None)


def positive(config: Mapping[str, Any], name: str) -> int | None:
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


def opened(provider: S, endpoint: Endpoint) -> S:
    """The provider, ready for its first call. The endpoint's options are further settings."""
    provider.initialize({**endpoint.options, "base_url": endpoint.base_url, "api_key": endpoint.api_key})
    provider.connect(endpoint.model)
    return provider


def opened_with_session(provider: L, endpoint: Endpoint) -> L:
    """The same for a provider that owns the history, with an empty conversation."""
    opened(provider, endpoint).create_session()
    return provider
