"""How this API's calls fail and how their answers are put together; `_calling` does the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anthropic
import httpx2

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .. import _calling
from .._answers import Listeners
from .._calling import Source
from . import errors
from .assemble import Assembler, stands_alone, whole
from .parts import Restore
from .wire import Answer, Event

_FAILURES = (
    anthropic.AnthropicError,
    httpx2.HTTPError,
    httpx2.StreamError,
    httpx2.InvalidURL,
    OSError,
    ValueError,  # a frame or a body that is not JSON, from our decoder or the SDK's
    RecursionError,  # one that is nested too deeply to be read
)


class Caller:
    """Makes calls for one provider. `secret` is the key, which no error may show."""

    def __init__(self, secret: str) -> None:
        self._calls = _calling.Caller(_FAILURES, partial(errors.from_exception, secret=secret), stands_alone)
        self._failed = partial(errors.from_stream, secret=secret)
        self.simple = self._calls.simple

    def whole(
        self, ask: Callable[[], Answer], restore: Restore, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in one piece."""
        return self._calls.whole(ask, partial(whole, restore), listeners, token)

    def streamed(
        self, ask: Callable[[], Source[Event]], restore: Restore, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in pieces, told to the listeners as they arrive."""
        return self._calls.streamed(ask, Assembler(restore, listeners, self._failed), token)
