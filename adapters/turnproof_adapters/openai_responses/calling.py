"""How this API's calls fail and how their answers are put together; `_calling` does the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from .. import _calling
from .._answers import Listeners
from .._calling import Source
from ..openai.calling import FAILURES, Typing
from .assemble import Assembler, whole
from .parts import Restore, stands_alone
from .wire import Answer, Event


class Caller:
    """Makes calls for one provider. `typing` says what its failures mean."""

    def __init__(self, typing: Typing) -> None:
        self._calls = _calling.Caller(FAILURES, typing.exception, stands_alone)
        self._failed = typing.failure
        self.simple = self._calls.simple

    def whole(
        self, ask: Callable[[], Answer], restore: Restore, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in one piece."""
        return self._calls.whole(ask, partial(whole, restore, self._failed), listeners, token)

    def streamed(
        self, ask: Callable[[], Source[Event]], restore: Restore, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        """A call answered in pieces, told to the listeners as they arrive."""
        return self._calls.streamed(ask, Assembler(restore, listeners, self._failed), token)
