"""What every agent's turn begins with: the arguments of `send()`, taken once."""

from __future__ import annotations

import contextlib
import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.messages import Part, ProviderResponse
from turnproof.provider import JSONSchema, OnChunk, OnFunctionCall, OnThinking, OnUsage
from turnproof.sessions import SessionSourceBase

from ._answers import Listeners

Content: TypeAlias = str | Sequence[Part]


@contextlib.contextmanager
def one_at_a_time(lock: threading.Lock, busy: str) -> Iterator[None]:
    """Holds the lock. Raises UsageError, with the words `busy`, where somebody else does: nobody waits."""
    if not lock.acquire(blocking=False):
        raise UsageError(busy)
    try:
        yield
    finally:
        lock.release()


class AgentTurns(SessionSourceBase):
    """The sending half of `turnproof.agents.Agent`."""

    def send(
        self,
        content: Content,
        *,
        cancel_token: CancelToken | None = None,
        on_chunk: OnChunk | None = None,
        on_usage_update: OnUsage | None = None,
        on_function_call: OnFunctionCall | None = None,
        on_thinking: OnThinking | None = None,
        response_schema: JSONSchema | None = None,
    ) -> ProviderResponse:
        """A whole turn, as `Agent` promises it. The callbacks run in the calling thread."""
        listeners = Listeners(on_chunk, on_usage_update, on_function_call, on_thinking)
        token = cancel_token if cancel_token is not None else CancelToken()
        return self._send(content, response_schema, listeners, token)

    @abstractmethod
    def _send(
        self, content: Content, response_schema: JSONSchema | None, listeners: Listeners, token: CancelToken
    ) -> ProviderResponse:
        """One turn. Raises UsageError while another one runs, and Cancelled for a token that is set already."""
