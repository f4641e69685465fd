"""What all bindings of libraries do with the callbacks of a call, and with what a cancelled call leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Any

from turnproof.messages import Part, ProviderResponse, Text, Thought


def notify(callbacks: Mapping[str, Any], name: str, news: Any) -> None:
    """Call the callback of this name (`on_chunk`, `on_usage_update`, ...), if one was given and there is any news."""
    if news and callbacks.get(name):
        callbacks[name](news)


async def pieces(stream: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """The pieces of a streamed answer. Between two of them a cancel in a callback takes effect, also where the next has
    arrived already and reading it waits for nothing. The library's stream is closed then, if there is a way to, and not
    when it is collected, so that the connection is closed before the call returns."""
    try:
        async for piece in stream:
            yield piece
            await asyncio.sleep(0)
    finally:
        # A generator and some libraries' streams have `aclose()`, the streams of SDKs a `close()` to be awaited.
        if close := getattr(stream, "aclose", None) or getattr(stream, "close", None):
            await close()


def notify_at_end(callbacks: Mapping[str, Any], response: ProviderResponse) -> ProviderResponse:
    """The response, after the callbacks got its calls and its usage: libraries tell both at the end."""
    for call in response.calls:
        notify(callbacks, "on_function_call", call)
    notify(callbacks, "on_usage_update", response.usage)
    return response


def without_unfinished(parts: Iterable[Part]) -> tuple[Part, ...]:
    """What stays of a cancelled answer: its texts, and the thoughts whose signature had arrived."""
    return tuple(part for part in parts if isinstance(part, Text) or (isinstance(part, Thought) and part.provider_data))
