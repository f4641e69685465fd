"""An answer of the real service on its way: its head, then its events as they come, for whoever writes them on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ...dialects.base import HttpRequest, Rendered, WireEvent
from ...dialects.contract import Dialect
from ...errors import ServiceError

if TYPE_CHECKING:
    from ..cassettes.recording_proxy import ProxyAnswer, ProxyTarget

_PIECEWISE = ("text/event-stream", "application/x-ndjson")
"""Content types whose events can be told apart before the body has ended."""


def comes_in_pieces(headers: Mapping[str, str]) -> bool:
    """Whether the events of an answer with this head can be passed on one by one."""
    content_type = {name.lower(): value for name, value in headers.items()}.get("content-type", "")
    return content_type.split(";", 1)[0].strip().lower() in _PIECEWISE


class Incoming(ABC):
    """An answer that is written on while it comes. Whoever has one closes it."""

    @abstractmethod
    async def head(self) -> tuple[int, Mapping[str, str]]:
        """Status and headers, as soon as they are there."""

    @abstractmethod
    def batches(self) -> AsyncIterator[Sequence[WireEvent]]:
        """The events when they are whole, those that came at once together; joined, their bytes are the body. To be
        read once."""

    @abstractmethod
    async def close(self) -> None:
        """Read no more of it. Calling it twice is harmless."""

    async def whole(self) -> Rendered:
        """All of it, when it has ended."""
        status, headers = await self.head()
        return Rendered(status, headers, tuple([event async for batch in self.batches() for event in batch]))


class KeptAnswer(Incoming):
    """An earlier answer of the service to the same request."""

    def __init__(self, answer: Rendered) -> None:
        self._answer = answer

    async def head(self) -> tuple[int, Mapping[str, str]]:
        return self._answer.status, self._answer.headers

    async def batches(self) -> AsyncIterator[Sequence[WireEvent]]:
        yield self._answer.events

    async def close(self) -> None:
        """There is nobody to be left."""


class ServiceAnswer(Incoming):
    """The service's answer to one request, which is sent when the head is first asked for.

    `done` gets everything that came and whether it came to its end, once, wherever its reader stopped; not where the
    service failed, for which ServiceError is raised. Closing it leaves the service at once, also in the middle of its
    answer.
    """

    def __init__(
        self,
        target: Callable[[], ProxyTarget],
        request: HttpRequest,
        dialect: Dialect,
        done: Callable[[Rendered, bool], None],
    ) -> None:
        self._target = target
        self._request = request
        self._dialect = dialect
        self._done = done
        self._connection = AsyncExitStack()
        self._answer: ProxyAnswer | None = None
        self._seen: list[WireEvent] = []
        self._ended = False
        self._broken = False
        self._closed = False

    async def head(self) -> tuple[int, Mapping[str, str]]:
        answer = await self._service_answer()
        return answer.status, answer.headers

    async def batches(self) -> AsyncIterator[Sequence[WireEvent]]:
        answer = await self._service_answer()
        in_pieces = comes_in_pieces(answer.headers)
        waiting = b""
        async for chunk in self._chunks(answer):
            waiting += chunk
            if not in_pieces:
                continue
            whole = self._dialect.split_stream(answer.headers, waiting)
            if whole and not whole[-1].data.endswith((b"\n\n", b"\r\n\r\n", b"\r\r", b"}\n")):
                whole = whole[:-1]
            waiting = waiting[sum(len(event.data) for event in whole) :]
            self._seen += whole
            yield whole
        rest = self._dialect.split_stream(answer.headers, waiting) if waiting or not self._seen else ()
        self._seen += rest
        self._ended = True
        yield rest

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._answer is not None:
            await self._answer.chunks.aclose()
        await self._connection.aclose()
        if self._answer is not None and not self._broken:
            self._done(Rendered(self._answer.status, self._answer.headers, tuple(self._seen)), self._ended)

    async def _chunks(self, answer: ProxyAnswer) -> AsyncIterator[bytes]:
        try:
            async for chunk in answer.chunks:
                yield chunk
        except ServiceError:
            self._broken = True
            raise

    async def _service_answer(self) -> ProxyAnswer:
        if self._answer is None:
            target = await self._connection.enter_async_context(self._target())
            self._answer = await target.forward(self._request)
        return self._answer
