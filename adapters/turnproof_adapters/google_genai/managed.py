"""Managed caches: system text and tools that the service keeps under a name, for both paths.

What was made here is deleted at shutdown, since the service keeps it for its whole life, and charges for it. Nothing
depends on that: a cache that cannot be deleted ends by itself.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence

from google.genai import types

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError, TransportError
from turnproof.messages import ToolSchema
from turnproof.provider import SystemInstruction

from .._caching import CachePluginHolder
from .._encoded_messages import encode
from . import convert
from .lifecycle import GoogleProvider
from .settings import Fields


class CachingGoogleProvider(CachePluginHolder, GoogleProvider):
    """A provider that a `turnproof.cache.ManagedCachePlugin` can create caches through."""

    def __init__(self) -> None:
        super().__init__()
        self._created: set[str] = set()
        self._created_lock = threading.Lock()

    def create_cache(
        self,
        system: SystemInstruction,
        tools: Sequence[ToolSchema],
        *,
        ttl_seconds: int,
        cancel_token: CancelToken | None = None,
    ) -> str:
        """Have the service store system text and tools for the chosen model; the name under which it keeps them.

        Raises InvalidRequestError for a prefix that is too small for the model, and Cancelled once the token is set.
        """
        client, model = self._require_client(), self._settings().model
        fields: Fields = {"ttl": f"{ttl_seconds}s"}
        if (instruction := convert.system(system)) is not None:
            fields["systemInstruction"] = instruction
        if tools:
            fields["tools"] = convert.tools(tools)
        config = types.CreateCachedContentConfig.model_validate_json(encode(fields))
        config.http_options = _patience()
        name = self._simple(lambda: client.caches.create(model=model, config=config), cancel_token).name
        if not name:
            raise TransportError("the service stored a prefix without giving it a name")
        with self._created_lock:
            self._created.add(name)
        return name

    def delete_cache(self, name: str, *, cancel_token: CancelToken | None = None) -> None:
        """Have the service forget a prefix.

        Raises ProviderError where it does not know the name (any more), and Cancelled once the token is set; what was
        not deleted then is deleted at shutdown.
        """
        client = self._require_client()
        with self._created_lock:
            self._created.discard(name)
        config = types.DeleteCachedContentConfig(http_options=_patience())
        try:
            self._simple(lambda: client.caches.delete(name=name, config=config), cancel_token)
        except Cancelled:
            with self._created_lock:
                self._created.add(name)
            raise

    def shutdown(self) -> None:
        """Delete the caches made here and close all connections. Calls made afterwards raise UsageError."""
        if self._client is not None:
            for name in sorted(self._created):
                with contextlib.suppress(ProviderError):
                    self.delete_cache(name)
        super().shutdown()


def _patience() -> types.HttpOptions:
    """A turn, or a shutdown, waits half a minute for such a request: nothing is lost by going on without it."""
    return types.HttpOptions(timeout=30_000)
