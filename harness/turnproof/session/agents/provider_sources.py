"""`ProviderSource`: where the providers of one service come from, for as many sessions as need one.

An `Origin` says which of them an agent runs on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

from ..._base.suggestions import did_you_mean
from ...errors import UsageError
from ...provider import Binding, Endpoint, LegacyProvider, Path, StatelessProvider

if TYPE_CHECKING:
    from ...cache import CachePlugin


@dataclass(frozen=True, slots=True)
class ProviderSource:
    """How providers of one service are opened, each for one model.

    models:       the models that a session may ask for, the default first.
    open_stateless, open_legacy: a ready provider for a model; None where the service has no such path.
    shared:       whether sessions may use one stateless provider object at the same time. One on the legacy path owns
                  its history, and is never shared.
    cache_plugin: makes the plugin that a session holds for its provider. One that stores a prefix under a name serves
                  all sessions that share their provider and begin with the same system text and tools.
    """

    models: tuple[str, ...]
    open_stateless: Callable[[str], StatelessProvider] | None = None
    open_legacy: Callable[[str], LegacyProvider] | None = None
    shared: bool = True
    cache_plugin: Callable[[Any], CachePlugin] | None = None

    def __post_init__(self) -> None:
        if not self.models:
            raise UsageError("a source of providers names at least one model")
        if not self.paths:
            raise UsageError("a source of providers opens at least one path: open_stateless, open_legacy or both")

    @classmethod
    def of(cls, binding: Binding, endpoint: Endpoint, *, models: Sequence[str] = ()) -> ProviderSource:
        """What a binding opens at an endpoint: for the endpoint's model, and for those of `models`.

        Raises UsageError for an adapter whose calling form has to go through `turnproof.foreign` first.
        """
        if binding.signature != "full" or binding.errors != "raised":
            raise UsageError(
                f"{binding.name} is not called as a session calls: make a ProviderSource of functions that open it "
                "through turnproof.foreign"
            )

        def opener(path: Path) -> Callable[[str], Any] | None:
            opened = binding.opener(path)
            return None if opened is None else lambda model: opened(replace(endpoint, model=model))

        return cls(
            tuple(dict.fromkeys((endpoint.model, *models))),
            open_stateless=opener("stateless"),
            open_legacy=opener("legacy"),
            cache_plugin=binding.cache_plugin,
        )

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths it can open, the stateless one first."""
        return tuple(path for path in get_args(Path) if self._opener(path) is not None)

    def choose(self, path: Path | None, model: str | None) -> tuple[Path, str]:
        """A path and a model that it can open. Raises UsageError for others."""
        if path is not None and path not in self.paths:
            raise UsageError(f"there is no {path} path here, only {self.paths[0]}")
        if model is not None and model not in self.models:
            hint = did_you_mean(model, self.models) or f"; one of {', '.join(self.models)}"
            raise UsageError(f"unknown model {model!r}{hint}")
        return path or self.paths[0], model or self.models[0]

    def open(self, path: Path, model: str) -> StatelessProvider | LegacyProvider:
        """A ready provider, for a path and a model from `choose`."""
        opener = self._opener(path)
        assert opener is not None
        return opener(model)

    def _opener(self, path: Path) -> Callable[[str], StatelessProvider | LegacyProvider] | None:
        return self.open_stateless if path == "stateless" else self.open_legacy


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose model an agent runs on: a source of its runtime, a path and a model, where None is the first there is."""

    provider: str | None = None
    path: Path | None = None
    model: str | None = None

    def but(self, provider: str | None, path: Path | None, model: str | None) -> Origin:
        """The same, but for what is given. Another provider brings its own path and model."""
        if provider not in (None, self.provider):
            return Origin(provider, path, model)
        return Origin(self.provider, path or self.path, model or self.model)
