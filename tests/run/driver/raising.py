"""Adapters that raise deep in code of their own, which somebody else's code has called."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

from turnproof.errors import ProviderError
from turnproof.messages import ProviderResponse
from turnproof.provider import Binding, Capabilities, Endpoint


def read_limits(text: str) -> dict[str, Any]:
    limits: dict[str, Any] = json.loads(text)
    return limits


class FromHook:
    """A hook of its HTTP client reads a header that is no JSON."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.client = httpx2.Client(event_hooks={"response": [self._note_limits]}, trust_env=False)

    def _note_limits(self, response: httpx2.Response) -> None:
        read_limits('{"limit": "unterminated')

    def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:
        self.ask(self.client)
        raise AssertionError("the hook raises")

    def ask(self, client: httpx2.Client) -> httpx2.Response:
        return client.post(f"{self.endpoint.base_url}/v1/messages", json={}, headers={"x-api-key": "none"})

    def shutdown(self) -> None:
        self.client.close()


class Translating(FromHook):
    """What its hook raised becomes an error of the tree, whose cause quotes the key."""

    def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:
        try:
            return super().complete(messages)
        except ValueError as error:
            error.add_note(f"x-api-key: {self.endpoint.api_key}")
            raise ProviderError("the limits cannot be read") from error


class Coroutine(FromHook):
    """The same in a coroutine."""

    async def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:  # type: ignore[override]
        await asyncio.sleep(0)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._limits())
        raise AssertionError("the task raises")

    async def _limits(self) -> None:
        read_limits("[")


class CancelsItself(FromHook):
    """A coroutine that ends by an exception that means something else to its loop."""

    async def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:  # type: ignore[override]
        raise asyncio.CancelledError


class InThread(FromHook):
    """A thread of its own raises, and the call with it."""

    def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(read_limits, "{").result()
        raise AssertionError("the thread raises")


class DoesNotOpen(FromHook):
    def __init__(self, endpoint: Endpoint) -> None:
        read_limits(endpoint.api_key)


class DoesNotClose(FromHook):
    def complete(self, messages: Any, *_: Any, **__: Any) -> ProviderResponse:
        raise SystemExit(3)

    def shutdown(self) -> None:
        read_limits("")


def bound(name: str, adapter: type[FromHook]) -> Binding:
    return Binding(
        name, "anthropic-messages", "claude-sonnet-4-5", Capabilities(streaming=True), open_stateless=adapter
    )


HOOK = bound("from-hook", FromHook)
TRANSLATING = bound("translating", Translating)
COROUTINE = bound("coroutine", Coroutine)
CANCELS = bound("cancels-itself", CancelsItself)
THREAD = bound("in-thread", InThread)
CLOSED = bound("does-not-open", DoesNotOpen)
OPEN = bound("does-not-close", DoesNotClose)
