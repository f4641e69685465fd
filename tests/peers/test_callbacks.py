"""What bindings of libraries do with a streamed answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from turnproof_adapters.peers.callbacks import pieces


def test_a_cancel_between_two_pieces_closes_the_librarys_generator() -> None:
    closed: list[str] = []

    async def library() -> AsyncIterator[str]:
        try:
            yield "Monday: "
            yield "bed 3."
        finally:
            closed.append("closed")

    received: list[str] = []

    async def call() -> None:
        async for piece in pieces(library()):
            received.append(piece)
            if task := asyncio.current_task():
                task.cancel()

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(call())
        assert closed == ["closed"]  # before the loop ends, which closes what is left

    asyncio.run(main())
    assert received == ["Monday: "]


def test_a_stream_of_a_library_or_an_sdk_that_is_left_is_closed() -> None:
    closed: list[str] = []

    class Stream:
        def __aiter__(self) -> Stream:
            return self

        async def __anext__(self) -> str:
            return "bed 3"

        async def close(self) -> None:
            closed.append("close")

    class Wrapper(Stream):
        async def aclose(self) -> None:
            closed.append("aclose")

    async def leave(stream: Stream) -> None:
        leaving = pieces(stream)
        assert await anext(leaving) == "bed 3"
        await leaving.aclose()  # type: ignore[attr-defined]

    asyncio.run(leave(Stream()))
    asyncio.run(leave(Wrapper()))
    assert closed == ["close", "aclose"]
