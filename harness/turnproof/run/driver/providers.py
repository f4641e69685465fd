"""The adapter's providers in one run: opened in the one calling form, tapped, and shut down at the end."""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ...errors import BindingError, HarnessError
from ...foreign import normalise, normalise_legacy
from ...messages import Message
from ...provider import Binding, Endpoint, Path
from .job import Job
from .provider_surface import refusal
from .provider_watch import ProviderWatch, real_provider
from .recorder import Recorder
from .tap import LegacyTap, StatelessTap, failed


@cache
def shared_ssl_context() -> ssl.SSLContext:
    """One TLS context a process: making one costs more than a whole run on loopback."""
    return ssl.create_default_context()


class Providers:
    """Opens them as the job says. By `history`, the session's own view of the history, legacy calls are judged.

    With a `watcher` what the session uses of them is put down.
    """

    def __init__(
        self,
        job: Job,
        binding: Binding,
        recorder: Recorder,
        history: Callable[[], Sequence[Message]],
        watcher: ProviderWatch | None = None,
    ) -> None:
        self.binding = binding
        self._watcher = watcher
        self._recorder = recorder
        self._history = history
        self._caches = job.scenario.cache
        self._opened: list[Any] = []
        options = {**binding.options, **job.options}
        self.endpoint = Endpoint(job.base_url, job.api_key, job.model, options, shared_ssl_context())

    def has_path(self, path: Path) -> bool:
        """Whether the adapter has this path."""
        return self.binding.opener(path) is not None

    def own(self, provider: Any) -> Any:
        """The adapter's own object behind one that was opened."""
        return provider.wrapped

    def refusal(self, own: Any) -> str:
        """Why the `complete()` of the adapter's own object cannot be called; empty where it can."""
        return refusal(own.complete, self.binding) if hasattr(own, "complete") else ""

    def open(self, path: Path) -> Any:
        """A fresh adapter object on a path. Raises HarnessError for one that the adapter lacks."""
        opener = self.binding.opener(path)
        if opener is None:
            raise HarnessError(f"{self.binding.name} has no {path} path")
        raw = self._opened_object(opener, path)
        self._recorder.owners.add(raw)
        self._recorder.opened = self._recorder.opened or self._recorder.owners.definition(type(raw))
        provider: Any
        if path == "stateless":
            provider = normalise(raw, signature=self.binding.signature, errors=self.binding.errors)
        else:
            provider = normalise_legacy(raw, errors=self.binding.errors)
        self._opened.append(provider)
        return provider

    def _opened_object(self, opener: Callable[[Endpoint], Any], path: Path) -> Any:
        """What the binding's opener returns. Raises BindingError for an object that has no calls of this path; a
        watched one is used as it is, since what it lacks is what is watched for."""
        raw = opener(self.endpoint)
        opener_name, needed = f"open_{path}", "complete" if path == "stateless" else "send_message"
        if inspect.isawaitable(raw):
            if inspect.iscoroutine(raw):
                raw.close()
            raise BindingError(f"{opener_name} is a coroutine function: make it a plain one that returns the adapter")
        if self._watcher is not None:
            return raw
        if inspect.isclass(raw):
            what_to_do = "return an object of it, made with the endpoint's base_url, api_key and model"
            raise BindingError(f"{opener_name} returned the class {raw.__name__}: {what_to_do}")
        if not callable(getattr(raw, needed, None)):
            kind = "None" if raw is None else f"an object of {type(raw).__name__}"
            advice = (
                f"return the adapter, or wrap it in a class with {needed}(), as in turnproof.provider."
                f"{'StatelessProvider' if path == 'stateless' else 'LegacyProvider'}"
            )
            raise BindingError(f"{opener_name} returned {kind}, which has no {needed}(): {advice}")
        if path == "stateless" and (problem := refusal(raw.complete, self.binding)):
            by_name = self.binding.signature == "full"
            form = "three arguments by position and six by name" if by_name else "eight arguments by position"
            raise BindingError(
                f'{problem}. The binding says signature="{self.binding.signature}", which passes {form} '
                "as turnproof.provider has them: accept them, or say the other signature"
            )
        return raw

    def tapped(self, path: Path) -> Any:
        """A fresh one whose calls are recorded. On the legacy path it has its cache plugin, if the scenario caches."""
        self._recorder.session_alone = False
        provider = self.open(path)
        tap: StatelessTap | LegacyTap
        if path == "stateless":
            tap = StatelessTap(provider, self._recorder)
        else:
            if self._caches and self.binding.cache_plugin is not None:
                provider.set_cache_plugin(self.binding.cache_plugin(provider))
            tap = LegacyTap(provider, self._recorder, self._history)
        if self._watcher is None:
            return tap
        own = self.own(provider)
        return self._watcher.hand_over(tap, own, path, self.refusal(own) if path == "stateless" else "")

    def watch(self, provider: Any) -> Any:
        """What a session is to use in place of a provider that it opened itself: the same, unless it is watched."""
        return provider if self._watcher is None else self._watcher.hand_over(provider)

    @property
    def cache_plugin(self) -> Callable[[Any], Any] | None:
        """Makes the plugin for a tapped provider of the stateless path; None where nothing is cached."""
        plugin = self.binding.cache_plugin
        if not self._caches or plugin is None:
            return None
        watcher = self._watcher
        if watcher is None:
            return lambda tap: plugin(tap.provider)
        return lambda tap: watcher.plugin(plugin(real_provider(tap).provider))

    def close(self) -> None:
        """Shut all of them down; one that fails is recorded."""
        for provider in self._opened:
            shutdown = getattr(provider, "shutdown", None)
            if shutdown is None:
                continue
            try:
                shutdown()
            except Exception as error:
                self._recorder.event(failed("call", error, self._recorder.raised(error)))
