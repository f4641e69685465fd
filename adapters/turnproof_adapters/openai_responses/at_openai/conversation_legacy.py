"""The legacy path at OpenAI with a conversation object: the service collects what is said there by itself (`_chain`).

Each request names the conversation and has what is new. What a failed or cancelled answer leaves in a conversation is
not documented: behind one, as behind every other break of a chain, a new conversation is begun with all that was said.
"""

from __future__ import annotations

from typing import Any

import openai

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse

from ..._answers import Listeners
from ..._chain import Head
from ..._legacy import Schema
from .legacy import OpenAIResponsesChain


class OpenAIResponsesConversation(OpenAIResponsesChain):
    """A conversation object at the service. One of ours holds one of theirs, and serves one thread at a time."""

    _conversation_id: str | None = None

    def end_chain(self) -> None:
        """Have the next request begin a new conversation with all that was said."""
        super().end_chain()
        self._conversation_id = None

    def _turn(
        self, message: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        is_continuable = False
        try:
            response = super()._turn(message, response_schema, listeners, token)
            # Of an answer that was taken up it is not known to which conversation it belongs.
            is_known = self._conversation_id is not None
            is_continuable = is_known and self._head is not None and self._head.messages == len(self._history)
        finally:
            if not is_continuable:
                self.end_chain()
        return response

    def _chained(self, head: Head | None, client: openai.OpenAI) -> dict[str, Any]:
        if not self._stores:
            return {}
        if head is None or self._conversation_id is None:
            self._conversation_id = client.conversations.create(timeout=self._timeouts).id
            self._note_id(self._conversation_id)
        return {"conversation": self._conversation_id}

    def _is_about_what_is_gone(self, error: Exception, head: Head) -> bool:
        return isinstance(error, openai.NotFoundError)

    def _delete_one(self, client: openai.OpenAI, name: str) -> None:
        if name.startswith("conv_"):
            client.conversations.delete(name, timeout=self._timeouts)
        else:
            super()._delete_one(client, name)
