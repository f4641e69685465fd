"""The legacy path at OpenAI: the service owns the history, as a chain of stored responses (`_chain`).

Instructions and tools do not carry over from one response to the next; they are sent each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import openai

from turnproof.cancel import CancelToken
from turnproof.errors import UsageError
from turnproof.messages import ProviderResponse, thaw

from ..._answers import Listeners
from ..._calling import Prompt, Source
from ..._chain import Head
from ..._names import tool_names
from ..._resumed_stream import Position
from ..legacy import ask, open_stream
from ..names import restorer
from ..wire import Answer, Event
from .background import IN_BACKGROUND, BackgroundResponses
from .responses_chain import ResponsesChain, is_about_what_is_gone

T = TypeVar("T")


class OpenAIResponsesChain(ResponsesChain, BackgroundResponses):
    """A conversation that the service keeps. One object holds one conversation and serves one thread at a time."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        if self._is_in_background and not self._stores:
            raise UsageError("an answer in the background has to be stored, and ChainPolicy(store=False) forbids that")
        way = self._way(prompt.messages, token)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._request_answer(
            partial(way, self._continuing_chain(prompt, self._ask)),
            partial(way, self._continuing_chain(prompt, self._open)),
            restore,
            listeners,
            token,
        )

    def _continuing_chain(
        self, prompt: Prompt, send: Callable[[Mapping[str, Any], openai.OpenAI, Mapping[str, str]], T]
    ) -> Callable[[openai.OpenAI, Mapping[str, str]], T]:
        """A request that continues the head; where the service has forgotten that, one with the whole conversation."""
        return lambda client, headers: self._continuing(
            lambda: send(self._request(prompt, client), client, headers), self._is_about_what_is_gone
        )

    def _request(self, prompt: Prompt, client: openai.OpenAI) -> dict[str, Any]:
        head = self._head_for(self._require_model())
        own = self._kwargs(prompt, stored_count=0 if head is None else head.messages)
        request = {**thaw(own), **self._chained(head, client), "store": self._stores, "timeout": self._timeouts}
        return {**request, **IN_BACKGROUND} if self._is_in_background else request

    def _chained(self, head: Head | None, client: openai.OpenAI) -> dict[str, Any]:
        """What a request names to continue the head."""
        return {} if head is None else {"previous_response_id": head.id}

    def _is_about_what_is_gone(self, error: Exception, head: Head) -> bool:
        return is_about_what_is_gone(error, head)

    def _delete_stored(self, name: str) -> None:
        client = self._require_client()

        def delete() -> None:
            with suppress(openai.NotFoundError):
                self._delete_one(client, name)

        self._caller.simple(delete)

    def _delete_one(self, client: openai.OpenAI, name: str) -> None:
        client.responses.delete(name, timeout=self._timeouts)

    def _ask(self, kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
        return self._note_id_of(ask(kwargs, client, headers))

    def _open(self, kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Event]:
        return self._noted_source(open_stream(kwargs, client, headers))

    def _retrieve(self, name: str) -> Answer:
        return self._note_id_of(super()._retrieve(name))

    def _follow(self, name: str, last: Position | None = None) -> Source[Event]:
        return self._noted_source(super()._follow(name, last))
