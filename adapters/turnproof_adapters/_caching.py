"""A provider that holds a cache plugin: every call, on either path, is annotated by it before it is converted.

Where the session holds the plugin instead, nothing is set here, and the marks come with the call. The bytes on the wire
are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from turnproof.cache import CachePlugin
from turnproof.cancel import CancelToken
from turnproof.errors import CacheExpiredError

from ._calling import Prompt


class CachePluginHolder:
    """The part of a provider that has to do with it."""

    _cache_plugin: CachePlugin | None = None

    @property
    def cache_plugin(self) -> CachePlugin | None:
        """The plugin that annotates this provider's calls, or None."""
        return self._cache_plugin

    def set_cache_plugin(self, plugin: CachePlugin | None) -> None:
        """Have a plugin annotate all later calls, or none. What is annotated is the request, never the history.

        A call whose managed cache the service has lost raises CacheExpiredError. Made again, it names another one.
        """
        self._cache_plugin = plugin

    def _annotated(self, prompt: Prompt, token: CancelToken | None) -> Prompt:
        """A call with the plugin's marks; without a plugin, as it is."""
        if self._cache_plugin is None:
            return prompt
        marked = self._cache_plugin.prepare(prompt.messages, prompt.system, prompt.tools, cancel_token=token)
        return Prompt(marked.messages, marked.system, marked.tools, prompt.response_schema)

    @contextmanager
    def _telling_of_lost_caches(self) -> Iterator[None]:
        """A cache that the service does not know is dropped by the plugin, so that the next call names another one."""
        try:
            yield
        except CacheExpiredError as error:
            if self._cache_plugin is not None:
                self._cache_plugin.lost(error.name)
            raise
