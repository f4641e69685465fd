"""The legacy path at OpenAI: the service owns the history, as a chain of stored responses.

A request names the response that it continues and has only what is new since. A list mirrors what the service holds,
and `get_history()` returns it; where the chain cannot be continued, the conversation is sent again from that list. The
head of the chain is the last completed response: never one that failed, was blank, cut off or cancelled. It is dropped
when another model is used, when a new conversation begins, and when the service has forgotten it. Instructions and
tools do not carry over from one response to the next; they are sent each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, ToolSchema, thaw

from ..._answers import Listeners
from ..._calling import Prompt, Source
from ..._legacy import OwnHistory, Schema
from ..._names import tool_names
from ..legacy import ask, open_stream
from ..names import restorer
from ..wire import Answer, Event
from .provider import OpenAIResponses

T = TypeVar("T")

FORGOTTEN = "previous_response_not_found"
"""The code of an error for a response that is not, or no longer, kept."""


@dataclass(frozen=True, slots=True)
class Head:
    """The response that the chain ends in. The service holds the first `messages` of the conversation for it."""

    id: str
    model: str
    messages: int


class OpenAIResponsesChain(OwnHistory, OpenAIResponses):
    """A conversation that the service keeps. One object holds one conversation and serves one thread at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Head | None = None
        self._completed_id: str | None = None

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        super()._begin(history, tools)
        self._head = None

    def _turn(
        self, said: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        self._completed_id = None
        response = super()._turn(said, response_schema, listeners, token)
        if self._completed_id is not None and _can_be_continued(response):
            self._head = Head(self._completed_id, self._require_model(), len(self._history))
        return response

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        way = self._way(prompt.messages, token)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
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

        def step(client: openai.OpenAI, headers: Mapping[str, str]) -> T:
            try:
                return send(self._request(prompt), client, headers)
            except openai.BadRequestError as error:
                if self._head is None or error.code != FORGOTTEN:
                    raise
            self._head = None
            return send(self._request(prompt), client, headers)

        return step

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        if self._head is not None and self._head.model != self._require_model():
            self._head = None
        head = self._head
        chained = {} if head is None else {"previous_response_id": head.id}
        own = self._kwargs(prompt, held=0 if head is None else head.messages)
        return {**thaw(own), **chained, "store": True, "timeout": self._timeouts}

    def _ask(self, kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Answer:
        answer = ask(kwargs, client, headers)
        self._note(answer)
        return answer

    def _open(self, kwargs: Mapping[str, Any], client: openai.OpenAI, headers: Mapping[str, str]) -> Source[Event]:
        source = open_stream(kwargs, client, headers)
        return Source(self._noted(source.events), source.close)

    def _noted(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event.type == "response.completed" and event.response is not None:
                self._note(event.response)
            yield event

    def _note(self, answer: Answer) -> None:
        """Remember the id of a response that was completed."""
        self._completed_id = answer.id if answer.status == "completed" else None


def _can_be_continued(response: ProviderResponse) -> bool:
    """Whether the service holds of a response what a later request would send of it, and all its calls can be answered.

    A blank answer is never sent again, and two calls under one id cannot be told apart.
    """
    ids = [call.id for call in response.calls]
    is_blank = any(isinstance(part, Text) and not part.text.strip() for part in response.parts)
    was_cancelled = response.finish_reason is FinishReason.CANCELLED
    return bool(response.parts) and not is_blank and not was_cancelled and len(set(ids)) == len(ids)
