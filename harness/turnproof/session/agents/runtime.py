"""`Runtime`: what all agents of an application have in common.

A session is made of what it owns, which is little (a history), and of what it shares: the provider objects of the
stateless path, the tools, the ledger, and whatever its options say about collecting, retrying and leave to act. All
sessions of a runtime get their options from the same function, so that a subagent recovers from whatever its parent
recovers from.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from ..._base.suggestions import did_you_mean
from ...chains import ChainedProvider
from ...errors import UsageError
from ...messages import TokenUsage
from ...provider import LegacyProvider, Path, StatelessProvider, SystemInstruction
from ...subject import Tool
from ..conversation import quietly
from ..ledger import TokenLedger, summed
from ..observer import SessionObserver
from ..retry import RetryPolicy
from ..session import Session
from ..tracing import Tracing
from .observer_gate import ObserverGate
from .provider_sources import ProviderSource

if TYPE_CHECKING:
    from ...cache import CachePlugin

_DECIDED_HERE = frozenset({"path", "system", "tools", "cache_plugin", "observers", "tracing"})


@dataclass(frozen=True, slots=True)
class _Holding:
    """What belongs to one session: its observers, and its provider unless that is shared."""

    gate: ObserverGate
    provider: StatelessProvider | LegacyProvider | None


class Runtime:
    """Makes sessions. Used from any thread; `close` it, or use it in a `with`, when all of them are done.

    providers: the sources of providers by name; the first is the default.
    tools:     the registry: every tool that an agent can have.
    options:   what else the session of the named agent is made with: `gc`, `retry`, `approve`, ... of `Session`.
    observers: who is told of what the named agent does, until its session is released.
    tracing:   makes the spans of the named agent; by default with the global tracer provider.
    """

    def __init__(
        self,
        providers: Mapping[str, ProviderSource],
        *,
        tools: Sequence[Tool] = (),
        options: Callable[[str], Mapping[str, Any]] = lambda agent: {},
        observers: Callable[[str], Sequence[SessionObserver]] = lambda agent: (),
        tracing: Callable[[str], Tracing] = lambda agent: Tracing(agent=agent),
    ) -> None:
        if not providers:
            raise UsageError("a runtime needs at least one source of providers")
        self.providers = dict(providers)
        self.tools = {tool.schema.name: tool for tool in tools}
        if len(self.tools) != len(tools):
            raise UsageError("several tools of the registry have the same name")
        self.ledger = TokenLedger()
        self._options = options
        self._observers = observers
        self._tracing = tracing
        # The random state is the largest thing in a session that has said nothing yet.
        self._retry = RetryPolicy()
        self._lock = threading.Lock()
        self._shared: dict[tuple[str, str], StatelessProvider] = {}
        self._plugins: dict[tuple[int, SystemInstruction, tuple[str, ...]], CachePlugin] = {}
        self._holdings: WeakKeyDictionary[Session, _Holding] = WeakKeyDictionary()

    def create_session(
        self,
        agent: str = "main",
        *,
        provider: str | None = None,
        path: Path | None = None,
        model: str | None = None,
        system: SystemInstruction = None,
        tools: Sequence[str] | None = None,
        more_tools: Sequence[Tool] = (),
    ) -> Session:
        """A session with an empty history, entered in the ledger as `agent`.

        `provider` names a source; path and model are its first unless they are given. `tools` are names from the
        registry (None: all of it), `more_tools` what this session has beside them.

        Raises UsageError for a name that is unknown, and whatever opening a provider raises.
        """
        options = {"retry": self._retry, **self._options(agent)}
        if wrong := sorted(_DECIDED_HERE & options.keys()):
            raise UsageError(f"the options of agent {agent!r} name {', '.join(wrong)}, which the runtime decides")
        source = self.source(provider)
        path, model = source.choose(path, model)
        chosen = [*self.tools_named(tools), *more_tools]
        opened, shared = self._provider(provider, source, path, model)
        gate = ObserverGate([self.ledger.child(agent), *self._observers(agent)])
        try:
            session = Session(
                opened,
                path=path,
                system=system,
                tools=chosen,
                cache_plugin=self._cache_plugin(source, opened, shared, system, chosen),
                observers=[gate],
                tracing=self._tracing(agent),
                **options,
            )
        except BaseException:
            if not shared:
                _shut_down(opened)
            raise
        with self._lock:
            self._holdings[session] = _Holding(gate, None if shared else opened)
        return session

    def source(self, name: str | None = None) -> ProviderSource:
        """The source of that name, by default the first. Raises UsageError for an unknown one."""
        if name is None:
            return next(iter(self.providers.values()))
        if name not in self.providers:
            hint = did_you_mean(name, self.providers) or f"; one of {', '.join(self.providers)}"
            raise UsageError(f"unknown provider {name!r}{hint}")
        return self.providers[name]

    def tools_named(self, names: Sequence[str] | None = None) -> list[Tool]:
        """Tools of the registry, in its order (None: all). Raises UsageError for a name that it does not have."""
        for name in names or ():
            if name not in self.tools:
                hint = did_you_mean(name, self.tools) or f"; known tools: {', '.join(self.tools) or 'none'}"
                raise UsageError(f"unknown tool {name!r}{hint}")
        return [tool for name, tool in self.tools.items() if names is None or name in names]

    def usage(self, agent: str) -> TokenUsage:
        """What the sessions of this agent have used; `ledger.total` is the sum over all agents."""
        return summed(row.usage for row in self.ledger.rows if row.session == agent)

    def release(self, session: Session, timeout: float = 0.0) -> None:
        """The session is not used any more: shut down the provider that is its alone, and tell its observers nothing.

        An observer that is being told at this moment is waited for, `timeout` seconds at the most. Calling it twice
        is harmless.
        """
        with self._lock:
            holding = self._holdings.pop(session, None)
        if holding is not None:
            holding.gate.close(timeout)
            _shut_down(holding.provider)

    def close(self) -> None:
        """Release all sessions, and shut down the providers that they shared."""
        for session in list(self._holdings):
            self.release(session)
        with self._lock:
            shared = list(self._shared.values())
            self._shared.clear()
            self._plugins.clear()
        for provider in shared:
            _shut_down(provider)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _provider(
        self, name: str | None, source: ProviderSource, path: Path, model: str
    ) -> tuple[StatelessProvider | LegacyProvider, bool]:
        """A provider for one more session, and whether others have it too."""
        if path == "legacy" or not source.shared:
            return source.open(path, model), False
        key = (name or next(iter(self.providers)), model)
        # Opened under the lock: two sessions that come first at the same time must not get two objects.
        with self._lock:
            if key not in self._shared:
                self._shared[key] = cast("StatelessProvider", source.open(path, model))
            return self._shared[key], True

    def _cache_plugin(
        self, source: ProviderSource, provider: object, shared: bool, system: SystemInstruction, tools: Sequence[Tool]
    ) -> CachePlugin | None:
        if source.cache_plugin is None:
            return None
        plugin = source.cache_plugin(provider)
        if not shared or plugin.covers != "prefix":
            return plugin
        # What it stores is billed by the hour: once for all sessions that begin alike.
        key = (id(provider), system, tuple(tool.schema.name for tool in tools))
        with self._lock:
            return self._plugins.setdefault(key, plugin)


def _shut_down(provider: object) -> None:
    if isinstance(provider, ChainedProvider):
        # Nobody continues the conversation: what its policy has deleted is deleted.
        provider.end_chain()
        quietly(f"{type(provider).__name__}.delete_left_answers", provider.delete_left_answers)
    shutdown = getattr(provider, "shutdown", None)
    if callable(shutdown):
        quietly(f"{type(provider).__name__}.shutdown", shutdown)
