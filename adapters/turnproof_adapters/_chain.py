"""Legacy paths whose history the service owns, as a chain of stored answers.

A request names the answer that it goes on from and has only what is new since. A list mirrors what the service holds,
and `get_history()` returns it; where the chain cannot be continued, the conversation is sent again from that list. The
head of the chain is the last answer that was completed: never one that failed, was blank, cut off or cancelled. It is
dropped when another model or key is used, when a new conversation begins, and when the service has forgotten it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from turnproof.cancel import CancelToken
from turnproof.chains import ChainPolicy, ChainState
from turnproof.errors import ChainLostError
from turnproof.messages import FinishReason, Message, ProviderResponse, Text, ToolSchema
from turnproof.provider import ProviderBase

from ._answers import Listeners
from ._legacy import OwnHistory, Schema

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Head:
    """The answer that the chain ends in. The service holds the first `messages` of the conversation for it."""

    id: str
    model: str
    messages: int


class Chain(OwnHistory, ProviderBase):
    """A conversation that the service keeps. One object holds one conversation and serves one thread at a time.

    A subclass asks `_head_for` what a request continues, tells `_note_id` the id of each answer as it begins, and sets
    `_completed_id` when one is complete. It is a `turnproof.chains.ChainedProvider`.
    """

    _is_stored: ClassVar[bool] = True
    """Whether the chain needs answers that the service stores. One in the memory of a connection does not."""

    def __init__(self) -> None:
        super().__init__()
        self._head: Head | None = None
        self._completed_id: str | None = None
        self._policy = ChainPolicy()
        self._answers = 0
        self._cost = 0
        self._stored_ids: dict[str, None] = {}
        self._left_ids: dict[str, None] = {}

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings. The chain ends: with another key the service does not know its answers."""
        super().initialize(config)
        self.end_chain()

    # What a session decides

    def set_chain_policy(self, policy: ChainPolicy) -> None:
        """Follow this policy from the next request on."""
        self._policy = policy
        if not policy.delete:
            self._left_ids.clear()

    @property
    def chain_state(self) -> ChainState:
        """The chain as it is now."""
        return ChainState(None if self._head is None else self._head.id, self._answers, self._cost)

    def end_chain(self) -> None:
        """Have the next request send the whole conversation, and begin a new chain with it."""
        if self._policy.delete:
            self._left_ids |= self._stored_ids
        self._stored_ids = {}
        self._head, self._answers, self._cost = None, 0, 0

    def delete_left_answers(self) -> None:
        """Delete at the service what the conversation no longer continues, if the policy says so, the newest first.

        Raises ProviderError for the first answer that could not be deleted; it and the others are deleted next time.
        """
        while self._left_ids:
            self._delete_stored(next(reversed(self._left_ids)))
            self._left_ids.popitem()

    @abstractmethod
    def _delete_stored(self, name: str) -> None:
        """Delete an answer at the service. One that it does not have is none to delete."""

    # What a subclass needs

    @property
    def _stores(self) -> bool:
        """Whether the service is asked to store the answers."""
        return self._is_stored and self._policy.store

    def _note_id(self, name: str | None) -> None:
        """An answer of this id has begun, whatever becomes of it."""
        if name and self._stores and self._policy.delete:
            self._stored_ids[name] = None

    def _head_for(self, model: str) -> Head | None:
        """What a request to this model continues. Another model than the chain's begins a new one, and so does a
        policy that has the chain end."""
        if self._head is None:
            return None
        is_kept = self._policy.store or not self._is_stored
        if self._head.model != model or not is_kept or not self._policy.allows(self.chain_state):
            self.end_chain()
        return self._head

    def _continuing(self, send: Callable[[], T], is_forgotten: Callable[[Exception, Head], bool]) -> T:
        """Send a request that continues the head; if the service has forgotten that, one with the whole conversation.

        Raises ChainLostError instead where the policy is to fail.
        """
        try:
            return send()
        except Exception as error:
            if self._head is None or not is_forgotten(error, self._head):
                raise
        # Out here: the SDK's exception, which holds the request and with it the key, is not attached.
        self._lose_head()
        return send()

    def _lose_head(self) -> None:
        """Nobody has the head any more: begin a new chain, or raise ChainLostError, as the policy says."""
        if self._head is not None and self._policy.forgotten == "fail":
            raise ChainLostError(
                f"{self._head.id!r}, which the conversation continues, is no longer kept, and the policy is to fail: "
                "begin a new chain to send the whole conversation",
                answer=self._head.id,
            )
        self.end_chain()

    # What happens in a turn

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        super()._begin(history, tools)
        self.end_chain()

    def _turn(
        self, message: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        self._completed_id = None
        response = super()._turn(message, response_schema, listeners, token)
        self._cost += response.usage.prompt_tokens
        is_head = self._stores or not self._is_stored
        if is_head and self._completed_id is not None and _can_be_continued(response):
            self._head = Head(self._completed_id, self._require_model(), len(self._history))
            self._answers += 1
        return response


def _can_be_continued(response: ProviderResponse) -> bool:
    """Whether the service holds of an answer what a later request would send of it, and all its calls can be answered.

    A blank answer is never sent again, and two calls under one id cannot be told apart.
    """
    ids = [call.id for call in response.calls]
    is_blank = any(isinstance(part, Text) and not part.text.strip() for part in response.parts)
    was_cancelled = response.finish_reason is FinishReason.CANCELLED
    return bool(response.parts) and not is_blank and not was_cancelled and len(set(ids)) == len(ids)
