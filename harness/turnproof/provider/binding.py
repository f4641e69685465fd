"""How turnproof opens an adapter: the few lines that bind one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..errors import BindingError
from ..messages import Message, ProviderResponse, ToolSchema
from ..reproducer import Reproducer
from .call_types import Path
from .capabilities import Capabilities
from .plain_calls import Conversation, PlainCall

if TYPE_CHECKING:
    from ssl import SSLContext


@dataclass(frozen=True, slots=True)
class Difference:
    """An intended difference between the paths: a name from the list of differences, and why it is right."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an adapter should send its requests, and as whom. The key never shows in a repr.

    options:     settings of the scenario and of the binding (`OPTIONS`), and no others: they may go to a constructor.
    ssl_context: a TLS context that was made once for the process, for adapters that can take one. Loopback has no TLS.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    ssl_context: SSLContext | None = field(default=None, repr=False, compare=False)


OPTIONS = ("thinking", "max_tokens", "timeout")
"""What a scenario may set in `Endpoint.options`; a binding's own `options` are there as well."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The other published way to end a call: returned instead of raised.

    `error` is None for an answer. `response` may be set beside an error (what had arrived).
    """

    response: ProviderResponse | None = None
    error: BaseException | None = None


class Translator(Protocol):
    """For a framework with message types of its own: neutral types to theirs and back."""

    def messages_out(self, messages: Sequence[Message]) -> Any: ...

    def tools_out(self, tools: Sequence[ToolSchema]) -> Any: ...

    def response_in(self, response: Any) -> ProviderResponse: ...


RETAINED = (
    "initialize",
    "connect",
    "verify_auth",
    "count_tokens",
    "context limit",
    "usage",
    "serialisers",
    "agent context",
    "thinking",
    "error classification",
    "shutdown",
)
"""What a provider does beside answering. It stays when the history moves to the session."""


@dataclass(frozen=True, slots=True)
class Binding:
    """How turnproof opens one adapter.

    `open_stateless` and `open_legacy` take an `Endpoint` and return a ready provider; None means that the
    adapter has no such path. `signature` is the published form of `complete()` it has: `full` (keyword-only
    options, `on_function_call`), or `short` (the same options by position, without `on_function_call`).
    `errors` says whether failures are raised or come back as an `Outcome`-shaped object. `cache_plugin` makes the
    plugin that goes with an opened provider (which a managed cache needs, to create caches through it).
    `plain_calls` are the official SDK's own calls, by name, that benchmarks hold the adapter against.
    `delegated` says that one `complete()` is a whole run of an agent, which calls its tools itself: whoever calls it
    gets no tool calls to answer. `retained` has, for those of `RETAINED` that are not called as the contract has them,
    a function of the object that the opener returned. It calls the thing in the adapter's own way, and raises, or
    returns False, if it does not work. `reproducer` writes calls of the library behind the adapter in the library's own
    API, for `turnproof reproduce`; None where the adapter itself is the library. `migrated` is the adapter as it is
    when its migration is over, where a package ships both forms: `NAME.migrated` names it. From phase 4 on, gates take
    it for the reference session.
    """

    name: str
    dialect: str
    model: str
    capabilities: Capabilities | Callable[[str], Capabilities]
    open_stateless: Callable[[Endpoint], Any] | None = None
    open_legacy: Callable[[Endpoint], Any] | None = None
    declared: Sequence[Difference] = ()
    signature: Literal["full", "short"] = "full"
    errors: Literal["raised", "returned"] = "raised"
    cache_plugin: Callable[[Any], Any] | None = None
    plain_calls: Mapping[str, Callable[[Endpoint, Conversation], PlainCall]] = field(default_factory=dict)
    delegated: bool = False
    retained: Mapping[str, Callable[[Any], object]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    package: str | None = None
    reproducer: Reproducer | None = None
    migrated: Binding | None = None

    def __post_init__(self) -> None:
        """Raise BindingError for a field that is not what it is for: where it is written, and not where it is used."""
        for name in ("name", "dialect", "model"):
            self._demand(name, isinstance(getattr(self, name), str) and bool(getattr(self, name)), "a word")
        known = isinstance(self.capabilities, Capabilities) or callable(self.capabilities)
        self._demand("capabilities", known, "Capabilities, nor a function of the model that gives some")
        for name in ("open_stateless", "open_legacy", "cache_plugin"):
            value = getattr(self, name)
            self._demand(name, value is None or callable(value), "a function")
        listed = isinstance(self.declared, Sequence) and all(isinstance(one, Difference) for one in self.declared)
        self._demand("declared", listed, "a list of Difference")
        self._demand("signature", self.signature in ("full", "short"), "'full' or 'short'")
        self._demand("errors", self.errors in ("raised", "returned"), "'raised' or 'returned'")
        for name in ("plain_calls", "options", "retained"):
            self._demand(name, isinstance(getattr(self, name), Mapping), "a mapping")
        known = self.reproducer is None or isinstance(self.reproducer, Reproducer)
        self._demand("reproducer", known, "a Reproducer, which has `packages` and `code()`")
        bound = self.migrated is None or isinstance(self.migrated, Binding)
        self._demand("migrated", bound, "another Binding")
        known_names = f"a mapping with some of {', '.join(RETAINED)}"
        self._demand("retained", set(self.retained) <= set(RETAINED), known_names)

    def _demand(self, name: str, holds: bool, what: str) -> None:
        if not holds:
            raise BindingError(f"binding {self.name!r}: {name} is {getattr(self, name)!r:.80}, not {what}")

    def claims(self, model: str | None = None) -> Capabilities:
        """The capabilities claimed for a model (the binding's own by default)."""
        if callable(self.capabilities):
            return self.capabilities(model or self.model)
        return self.capabilities

    def opener(self, path: Path) -> Callable[[Endpoint], Any] | None:
        """The function that opens a path, or None where the adapter lacks it."""
        return self.open_stateless if path == "stateless" else self.open_legacy
