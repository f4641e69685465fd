"""Legacy paths whose history the service owns, as a chain of stored answers.

A request names the answer that it goes on from and has only what is new since. A list mirrors what the service holds,
and `get_history()` returns it; where the chain cannot be continued, the conversation is sent again from that list. The
head of the chain is the last answer that was completed: never one that failed, was blank, cut off or cancelled. It is
dropped when another model is used, when a new conversation begins, and when the service has forgotten it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, ToolSchema

from ._answers import Listeners
from ._legacy import OwnHistory, Schema

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Head:
    """The answer that the chain ends in. The service holds the first `messages` of the conversation for it."""

    id: str
    model: str
    messages: int


class Chain(OwnHistory):
    """A conversation that the service keeps. One object holds one conversation and serves one thread at a time.

    A subclass sets `_completed_id` when an answer is complete, and asks `_head_for` what a request goes on from.
    """

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

    def _head_for(self, model: str) -> Head | None:
        """What a request to this model goes on from. Another model than the chain's begins a new one."""
        if self._head is not None and self._head.model != model:
            self._head = None
        return self._head

    def _continuing(self, send: Callable[[], T], is_forgotten: Callable[[Exception, Head], bool]) -> T:
        """Send a request that goes on from the head; if the service has forgotten that, one with the whole
        conversation."""
        try:
            return send()
        except Exception as error:
            if self._head is None or not is_forgotten(error, self._head):
                raise
        self._head = None
        return send()


def _can_be_continued(response: ProviderResponse) -> bool:
    """Whether the service holds of an answer what a later request would send of it, and all its calls can be answered.

    A blank answer is never sent again, and two calls under one id cannot be told apart.
    """
    ids = [call.id for call in response.calls]
    is_blank = any(isinstance(part, Text) and not part.text.strip() for part in response.parts)
    was_cancelled = response.finish_reason is FinishReason.CANCELLED
    return bool(response.parts) and not is_blank and not was_cancelled and len(set(ids)) == len(ids)
