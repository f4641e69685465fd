"""A conversation on the legacy path with answers in memory, and what can be seen of it from both sides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import httpx2

from turnproof.messages import Part, ProviderResponse

from .kit import answer, event, legacy, stream

Reply: TypeAlias = dict[str, Any] | list[bytes] | httpx2.Response | Callable[[], httpx2.Response]
"""A body, the events of a stream, a whole response, or what makes one when it is time."""


class LegacyConversation:
    """One reply a request, in order. `provider` holds the conversation."""

    opener: Callable[..., Any] = staticmethod(legacy)
    """Opens the provider."""

    def __init__(self, *replies: Reply, model: str | None = None, **options: Any) -> None:
        self.requests: list[httpx2.Request] = []
        self._replies = [*replies]
        chosen = {"model": model} if model else {}
        self.provider = self.opener(transport=httpx2.MockTransport(self._handle), **chosen, **options)

    @property
    def bodies(self) -> list[Any]:
        """What every request said."""
        return [json.loads(request.content) for request in self.requests]

    @property
    def request(self) -> Any:
        """The last request, without an envelope."""
        return self.bodies[-1]

    @property
    def contents(self) -> list[tuple[str, list[str]]]:
        """Who said what in the last request: texts as they are, other parts by the name of what they hold."""
        return [(each["role"], [_shown(part) for part in each["parts"]]) for each in self.request["contents"]]

    @property
    def history(self) -> list[tuple[str, tuple[Part, ...]]]:
        """What the provider holds, ids aside."""
        return [(message.role, message.parts) for message in self.provider.get_history()]

    def say(self, words: str, *, streamed: bool = False, **options: Any) -> ProviderResponse:
        """Have something answered, either way."""
        if not streamed:
            response: ProviderResponse = self.provider.send_message(words, **options)
        else:
            on_chunk = options.pop("on_chunk", lambda piece: None)
            response = self.provider.send_message_streaming(words, on_chunk, **options)
        return response

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        reply = self._replies.pop(0)
        if callable(reply):
            return reply()
        if isinstance(reply, httpx2.Response):
            return reply
        if isinstance(reply, list):
            return httpx2.Response(200, content=b"".join(reply), headers={"content-type": "text/event-stream"})
        return httpx2.Response(200, json=reply)


def reply(*parts: dict[str, Any], streamed: bool, **fields: Any) -> Reply:
    """An answer in one piece, or with each of its parts in a piece of its own."""
    return stream(*parts, **fields) if streamed else answer(*parts, **fields)


def bare(*candidates: dict[str, Any], streamed: bool, before: Iterable[bytes] = (), **fields: Any) -> Reply:
    """An answer of these candidates, as they are; streamed behind the pieces of `before`."""
    body = {**answer(), "candidates": [*candidates], **fields}
    return [*before, event(body)] if streamed else body


def refusal(status: int, message: str = "no", **fields: Any) -> httpx2.Response:
    """An error answer."""
    return httpx2.Response(status, json={"error": {"code": status, "message": message, **fields}})


def _shown(part: dict[str, Any]) -> str:
    if "text" in part:
        return str(part["text"])
    return next(name for name in part if name != "thoughtSignature")
