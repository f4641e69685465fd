"""The adapter's providers in one run: opened in the one calling form, tapped, and shut down at the end."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..errors import HarnessError
from ..foreign import normalise, normalise_legacy
from ..messages import Message
from ..provider import Binding, Endpoint, Path
from .job import Job
from .recorder import Recorder
from .tap import LegacyTap, StatelessTap, failed


@cache
def shared_ssl_context() -> ssl.SSLContext:
    """One TLS context a process: making one costs more than a whole run on loopback."""
    return ssl.create_default_context()


class Providers:
    """Opens them as the job says. By `held`, the session's own view of the history, legacy calls are judged."""

    def __init__(self, job: Job, binding: Binding, recorder: Recorder, held: Callable[[], Sequence[Message]]) -> None:
        self._binding = binding
        self._recorder = recorder
        self._held = held
        self._caches = job.scenario.cache
        self._opened: list[Any] = []
        options = {"ssl_context": shared_ssl_context(), **binding.options, **job.options}
        self.endpoint = Endpoint(job.base_url, job.api_key, job.model, options)

    def open(self, path: Path) -> Any:
        """A fresh adapter object on a path. Raises HarnessError for one that the adapter lacks."""
        opener = self._binding.opener(path)
        if opener is None:
            raise HarnessError(f"{self._binding.name} has no {path} path")
        raw = opener(self.endpoint)
        provider: Any
        if path == "stateless":
            provider = normalise(raw, signature=self._binding.signature, errors=self._binding.errors)
        else:
            provider = normalise_legacy(raw, errors=self._binding.errors)
        self._opened.append(provider)
        return provider

    def tapped(self, path: Path) -> StatelessTap | LegacyTap:
        """A fresh one whose calls are recorded. On the legacy path it has its cache plugin, if the scenario caches."""
        provider = self.open(path)
        if path == "stateless":
            return StatelessTap(provider, self._recorder)
        if self._caches and self._binding.cache_plugin is not None:
            provider.set_cache_plugin(self._binding.cache_plugin(provider))
        return LegacyTap(provider, self._recorder, self._held)

    @property
    def cache_plugin(self) -> Callable[[Any], Any] | None:
        """Makes the plugin for a tapped provider of the stateless path; None where nothing is cached."""
        plugin = self._binding.cache_plugin
        if not self._caches or plugin is None:
            return None
        return lambda tap: plugin(tap.provider)

    def close(self) -> None:
        """Shut all of them down; one that fails is recorded."""
        for provider in self._opened:
            shutdown = getattr(provider, "shutdown", None)
            if shutdown is None:
                continue
            try:
                shutdown()
            except Exception as error:
                self._recorder.event(failed("call", error))
