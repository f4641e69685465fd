"""The legacy path over a WebSocket: the connection owns the history, as a chain in its memory (`_chain`).

Nothing is stored. The socket holds the last response that it gave: the next request names that and sends what is new.
Where the socket was lost, another one was opened, or its last request came to nothing, the chain begins anew with the
whole conversation, which the list beside it holds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse, thaw

from ..._answers import Listeners
from ..._calling import Prompt, Source
from ..._names import tool_names
from ..names import restorer
from ..wire import Answer, Event
from .responses_chain import ResponsesChain, is_about_what_is_gone
from .socket import Socket, Sockets, receive_typed
from .socket_provider import OpenAIResponsesOverSocket

T = TypeVar("T")


class OpenAIResponsesSocketChain(ResponsesChain, OpenAIResponsesOverSocket):
    """A conversation in the memory of a socket. One object holds one conversation and serves one thread at a time."""

    _is_stored = False

    def _delete_stored(self, name: str) -> None:
        """Nothing to do: nothing is stored."""

    def _call(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        sockets = self._require_sockets()
        send = partial(self._send, prompt)
        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(self._continuing, partial(self._ask, sockets, send), is_about_what_is_gone),
            partial(self._continuing, partial(self._open, sockets, send), is_about_what_is_gone),
            restore,
            listeners,
            token,
        )

    def _send(self, prompt: Prompt, socket: Socket) -> None:
        """Send what the socket does not hold."""
        head = self._head_for(self._require_model())
        if head is not None and socket.last != head.id:
            self._lose_head()
            head = None
        chained: dict[str, Any] = {} if head is None else {"previous_response_id": head.id}
        own = self._kwargs(prompt, stored_count=0 if head is None else head.messages)
        socket.connection.response.create(**thaw(own), **chained)

    def _ask(self, sockets: Sockets, send: Callable[[Socket], None]) -> Answer:
        return self._note_id_of(sockets.answer(send, receive_typed))

    def _open(self, sockets: Sockets, send: Callable[[Socket], None]) -> Source[Event]:
        return self._noted_source(sockets.stream(send, receive_typed))
