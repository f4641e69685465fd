"""A prefix that the provider keeps under a name: system text and tools are stored once, and requests name them.

Storing costs a request and is paid for by the hour, so it is done once for each (system, tools) and used until they
change or its life ends. Whatever goes wrong with it, the turn goes on: a request without a mark carries its prefix.
Only a cancelled turn does not wait for it.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import msgspec

from ..cancel import CancelToken
from ..errors import ProviderError
from ..messages import CacheMark, Text, ToolSchema, marked
from ..provider import SystemInstruction, system_text
from ._estimate import Estimate
from ._plugin import BasePlugin, Covers, Prepared, Settings, settings

DEFAULT_TTL_SECONDS = 3600
"""The life that the Gemini API gives a cache by itself (https://ai.google.dev/gemini-api/docs/caching)."""

DEFAULT_MINIMUM_TOKENS = 1024
"""The smallest prefix that a current model stores; some want more and refuse, which costs one request."""

PAUSE_SECONDS = 60.0
"""How long a service that was overloaded, or could not be reached, is left alone unless it says otherwise."""

_MARGIN = 0.1
_LONGEST_MARGIN_SECONDS = 60.0


class ManagedCaches(Protocol):
    """What a provider offers for it. Both methods raise ProviderError, and Cancelled once the token is set."""

    def create_cache(
        self,
        system: SystemInstruction,
        tools: Sequence[ToolSchema],
        *,
        ttl_seconds: int,
        cancel_token: CancelToken | None = None,
    ) -> str:
        """Have the service store this prefix; the name under which requests can use it."""

    def delete_cache(self, name: str, *, cancel_token: CancelToken | None = None) -> None:
        """Have the service forget a prefix."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """What became of a prefix: its name, or None where it is to be sent in full; valid `until` on the clock."""

    system: str
    tools: tuple[ToolSchema, ...]
    name: str | None
    until: float


class _ManagedSettings(Settings, frozen=True, kw_only=True):
    ttl_seconds: Annotated[int, msgspec.Meta(gt=0)] = DEFAULT_TTL_SECONDS
    minimum_tokens: Annotated[int, msgspec.Meta(ge=0)] = DEFAULT_MINIMUM_TOKENS


class ManagedCachePlugin(BasePlugin):
    """Has `service` store the prefix of one session and puts its name on the system text, or on the last tool.

    A prefix that is surely below `minimum_tokens` is left alone, one that the service refuses is not offered again.
    The life of a cache, `ttl_seconds`, is counted on `clock`, and it is renewed a little before its end. One that
    is lost before that is stored anew, but only once in a life-time: a service that keeps losing it gets the prefix
    in full. May be used in several threads.
    """

    name = "managed"
    provider_name = "google_genai"
    covers: Covers = "prefix"

    def __init__(
        self,
        service: ManagedCaches,
        *,
        ttl_seconds: int = DEFAULT_TTL_SECONDS,
        minimum_tokens: int = DEFAULT_MINIMUM_TOKENS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._service = service
        self._clock = clock
        self._turnstile = _Turnstile()
        self._lock = threading.Lock()
        self._stored: _Stored | None = None
        self._issued: set[str] = set()
        self._lost_at = -math.inf
        self.initialize({"ttl_seconds": ttl_seconds, "minimum_tokens": minimum_tokens})

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take `ttl_seconds`, for what is stored from now on, and `minimum_tokens`; the rest has its default."""
        found = settings(_ManagedSettings, config, self.name)
        self._ttl, self._minimum = found.ttl_seconds, found.minimum_tokens

    def _mark(self, request: Prepared, token: CancelToken) -> Prepared:
        """The request with its mark. Makes a request of its own where the prefix has to be stored first.

        Raises Cancelled as soon as the token is set while the service stores or forgets something, or while another
        thread has it do so. What it was storing may then be stored all the same, under a name that nobody knows, until
        its life ends.
        """
        system, ordered = request.system, list(request.tools)
        text = system_text(system)
        name = self._name(system, text, request.tools, token)
        if name is not None:
            mark = CacheMark(name=name)
            if text.strip():
                system = marked(system, mark) if isinstance(system, Text) else Text(text, cache=mark)
            else:
                ordered[-1] = marked(ordered[-1], mark)
        return Prepared(request.messages, system, tuple(ordered))

    def lost(self, name: str) -> bool:
        """Forget a name that the service refused. False for one that this plugin never set."""
        with self._lock:
            if name not in self._issued:
                return False
            stored = self._stored
            if stored is not None and stored.name == name:
                now = self._clock()
                again = now - self._lost_at < self._ttl
                self._stored = _Stored(stored.system, stored.tools, None, now + self._ttl) if again else None
                self._lost_at = now
            return True

    def _name(
        self, system: SystemInstruction, text: str, tools: tuple[ToolSchema, ...], token: CancelToken
    ) -> str | None:
        if not self._large_enough(text, tools):
            return None
        with self._turnstile.passing(token):
            known = self._stored
            same = known is not None and (known.system, known.tools) == (text, tools)
            if known is None or not same or self._clock() >= known.until:
                if known is not None and known.name is not None and not same:
                    # One that is only too old ends by itself.
                    with contextlib.suppress(ProviderError):
                        self._service.delete_cache(known.name, cancel_token=token)
                known = self._store(system, text, tools, token)
                with self._lock:
                    self._stored = known
            return known.name

    def _store(
        self, system: SystemInstruction, text: str, tools: tuple[ToolSchema, ...], token: CancelToken
    ) -> _Stored:
        began = self._clock()
        try:
            name = self._service.create_cache(system, tools, ttl_seconds=self._ttl, cancel_token=token)
        except ProviderError as error:
            pause = (error.retry_after or PAUSE_SECONDS) if error.retryable else math.inf
            return _Stored(text, tools, None, self._clock() + pause)
        with self._lock:
            self._issued.add(name)
        return _Stored(text, tools, name, began + self._ttl - min(self._ttl * _MARGIN, _LONGEST_MARGIN_SECONDS))

    def _large_enough(self, text: str, tools: Sequence[ToolSchema]) -> bool:
        size = Estimate()
        for tool in tools:
            size.add_tool(tool)
        size.add_text(text)
        return bool(tools or text.strip()) and size.reaches(self._minimum)


class _Turnstile:
    """A lock whose waiters a cancel sends away: whoever is inside may be waiting for a service."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = False

    @contextlib.contextmanager
    def passing(self, token: CancelToken) -> Iterator[None]:
        """Be the only one inside. Raises Cancelled if the token is set first."""
        forget = token.on_cancel(self._wake)
        try:
            with self._changed:
                self._changed.wait_for(lambda: token.is_cancelled or not self._inside)
                token.raise_if_cancelled()
                self._inside = True
        finally:
            forget()
        try:
            yield
        finally:
            with self._changed:
                self._inside = False
                # All of them: one that was cancelled meanwhile would pass its turn on to nobody.
                self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
