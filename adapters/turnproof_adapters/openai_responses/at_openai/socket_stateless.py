"""The stateless path over WebSockets: the whole conversation in every message, and no memory of the socket is used."""

from __future__ import annotations

from functools import partial

from turnproof.cancel import CancelToken
from turnproof.messages import ProviderResponse

from ..._answers import Listeners
from ..._calling import Prompt
from ..._names import tool_names
from ..names import restorer
from ..stateless import ResponsesStateless
from .socket import Socket, receive_bytes
from .socket_provider import OpenAIResponsesOverSocket


class OpenAIResponsesSocketStateless(ResponsesStateless, OpenAIResponsesOverSocket):
    """`complete()` over WebSockets. One object serves any number of conversations and threads."""

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        if token is not None:
            token.raise_if_cancelled()
        body = self._joined({"type": "response.create"}, prompt).decode()
        sockets = self._require_sockets()

        def send(socket: Socket) -> None:
            socket.connection.send_raw(body)

        restore = restorer(partial(tool_names, prompt.messages, prompt.tools))
        return self._caller.call(
            partial(sockets.answer, send, receive_bytes),
            partial(sockets.stream, send, receive_bytes),
            restore,
            listeners,
            token,
        )
