"""From an endpoint to a ready provider: the settings that every adapter takes, and where a key may come from.

Bindings are imported without any SDK: they name the classes of a provider, which are imported when it is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import import_module
from typing import Any, Protocol, TypeVar

from turnproof.errors import AuthenticationError, UsageError
from turnproof.messages import Message, ToolSchema
from turnproof.provider import Binding, Capabilities, Conversation, Difference, Endpoint, PlainCall, SystemInstruction


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


def _as_given(endpoint: Endpoint) -> Endpoint:
    return endpoint


@dataclass(frozen=True)
class AdapterClasses:
    """The classes of an adapter: of its modules `stateless`, `legacy` and, by the name of the call, `plain`.

    `module:Class` names one of another module of the package. `endpoint` gives where the adapter has to send its
    requests, for an endpoint of turnproof.
    """

    package: str
    stateless: str
    legacy: str
    plain_calls: Mapping[str, str] = field(default_factory=dict)
    endpoint: Callable[[Endpoint], Endpoint] = _as_given

    def binding(
        self, name: str, dialect: str, model: str, capabilities: Callable[[str], Capabilities], **more: Any
    ) -> Binding:
        """A binding that opens them, and imports them only then. `more` are further fields of it.

        Its migrated form has no legacy path, and so nothing that could differ from it.
        """
        plain_calls = {call: partial(self._open_plain_call, one) for call, one in self.plain_calls.items()}
        openers = {"open_stateless": self._open_stateless, "open_legacy": self._open_legacy, "plain_calls": plain_calls}
        binding = Binding(name, dialect, model, capabilities, **{"declared": [DECODER_WORDS], **openers, **more})
        migrated = replace(binding, open_stateless=self._open_migrated, open_legacy=None, declared=())
        return replace(binding, migrated=migrated)

    def _open_stateless(self, endpoint: Endpoint) -> Any:
        return open_provider(self._load("stateless", self.stateless)(), self.endpoint(endpoint))

    def _open_migrated(self, endpoint: Endpoint) -> Any:
        return open_provider(_without_plugin(self._load("stateless", self.stateless))(), self.endpoint(endpoint))

    def _open_legacy(self, endpoint: Endpoint) -> Any:
        return open_with_session(self._load("legacy", self.legacy)(), self.endpoint(endpoint))

    def _open_plain_call(self, name: str, endpoint: Endpoint, conversation: Conversation) -> PlainCall:
        call: PlainCall = self._load("plain", name)(self.endpoint(endpoint), conversation)
        return call

    def _load(self, module: str, name: str) -> Any:
        other, _, cls = name.rpartition(":")
        return getattr(import_module(f"{self.package}.{other or module}"), cls)


@cache
def _without_plugin(cls: type[S]) -> type[S]:
    """The class of a stateless path where the session alone holds the cache plugin.

    It goes by the name of the class, so that whoever looks for its source finds all that it has.
    """
    names = ("set_cache_plugin", "cache_plugin")
    hidden = {name: None for name in names if hasattr(cls, name)}
    own_name = {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
    return type(cls.__name__, (cls,), {**hidden, **own_name}) if hidden else cls
