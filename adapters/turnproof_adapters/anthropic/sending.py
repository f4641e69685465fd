"""One call from its first byte to its answer, with cancellation: what both paths do alike around their own request.

A call that is cancelled before its request was written raises `Cancelled`; one that is cancelled later always gives a
response, whatever the network, or a service that was hung up on, makes of it. Errors never carry the key, nor the
SDK's exceptions, whose requests hold it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, ProviderError, TransportError
from turnproof.messages import FinishReason, ProviderResponse

from . import errors
from .assemble import Assembler, stopped
from .cut import Cut
from .wire import Event


class Call:
    """A call in progress. Use as a context manager around everything it does on the network."""

    def __init__(self, token: CancelToken | None, secret: str) -> None:
        self._token = token or CancelToken()
        self._secret = secret
        self._cut = Cut()
        self._scope = self._cut.in_force()
        self._unregister: Callable[[], None] = lambda: None

    def __enter__(self) -> Call:
        self._token.raise_if_cancelled()
        self._unregister = self._token.on_cancel(self._cut.fire)
        self._scope.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._scope.__exit__(None, None, None)
        self._unregister()

    def attempt(self, step: Callable[[], T]) -> T | Ended: ...
