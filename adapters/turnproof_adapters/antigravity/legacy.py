"""The legacy path: the provider keeps the conversation itself, as contents of the API, in the style that frameworks had
before sessions took it over.

Every call sends the whole list as JSON and reads the answer as plain JSON. A failed call leaves the list as it was; a
cancelled one keeps the user's side and what the model had said.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import httpx2
import msgspec

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse, ToolSchema, thaw

from .._answers import Listeners, with_structured_output
from .._calling import Prompt
from .._decoding import convert_to, decode_json
from .._encoded_messages import encode
from .._legacy import LegacySession, Schema
from .._names import tool_names
from ..google_genai.arrange import BEGINS_WITH_A_CALL
from ..google_genai.assemble import Assembler, Chunk, read_answer
from ..google_genai.names import restorer
from ..google_genai.reading import batch, stream
from ..google_genai.target import Target
from .gateway import Gateway
from .history import Content, answer_contents, contents_of, messages_of, open_calls, sendable_contents
from .lifecycle import AntigravityProvider
from .models import target
from .request import address, request_id, session_id
from .wire import Line, chunk


class AntigravityLegacy(LegacySession, AntigravityProvider):
    """A conversation with the gateway. One object holds one conversation and serves one thread at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._contents: list[Content] = []
        self._held_for = target("")
        self._own_names: frozenset[str] = frozenset()
        self._restore = restorer(lambda: self._own_names)

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        to = target(self._settings().model)
        contents = contents_of(history, to)
        if contents and contents[0]["role"] == "model" and any("functionCall" in part for part in contents[0]["parts"]):
            raise InvalidRequestError(f"the gateway does not answer this conversation: {BEGINS_WITH_A_CALL}")
        self._contents, self._held_for = contents, to
        self._own_names = frozenset(tool_names(history, tools))

    def get_history(self) -> list[Message]:
        """The conversation so far, read back from its contents, in a list of the caller's own; message ids are new."""
        return messages_of(self._contents, self._held_for, self._restore)

    def _turn(
        self, message: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        gateway, to = self._require_client(), self._up_to_date()
        if token is not None:
            token.raise_if_cancelled()
        contents = [*self._contents, *self._user_side(message, to)]
        response = self._call(gateway, contents, to, response_schema, listeners, token)
        self._contents = [*contents, *answer_contents(response.parts, to)]
        self._usage = response.usage
        return with_structured_output(response, response_schema)

    def _call(
        self,
        gateway: Gateway,
        contents: Sequence[Content],
        to: Target,
        response_schema: Schema | None,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        request = self._request(contents, to, response_schema)
        streamed = listeners.on_chunk is not None
        ask = partial(self._post, gateway, request, token, stream=streamed)
        assembler, decode = partial(Assembler, to, self._restore), partial(_chunk, to=to)
        if streamed:
            assembly = assembler(listeners, token=token)
            return gateway.caller.call_stream(lambda: stream(ask(), decode), assembly, token)
        return gateway.caller.call_batch(
            lambda: batch(ask(), decode), partial(read_answer, assembler), listeners, token
        )

    def _request(self, contents: Sequence[Content], to: Target, response_schema: Schema | None) -> dict[str, Any]:
        settings, going = self._settings(), sendable_contents(contents, to)
        fields = settings.fields(Prompt((), self._system, self._tools, response_schema))
        request = {"contents": going, **thaw(fields), "sessionId": session_id(encode(going[0]))}
        return {**settings.envelope(request_id(encode(request))), "request": request}

    def _post(
        self, gateway: Gateway, request: dict[str, Any], token: CancelToken | None, *, stream: bool
    ) -> httpx2.Response:
        http = gateway.http

        def send(host: str, bearer: str, project: str | None) -> httpx2.Response:
            url, headers = address(host, bearer, stream=stream)
            payload = {**({"project": project} if project else {}), **request}
            return http.send(http.build_request("POST", url, json=payload, headers=headers), stream=True)

        return gateway.ask_accounts(send, request["model"], token, partial(self._project, token=token))

    def _up_to_date(self) -> Target:
        """The model in use now; what it cannot take over from the one before does not stay."""
        to = target(self._settings().model)
        if to != self._held_for:
            self._contents, self._held_for = contents_of(self.get_history(), to), to
        return to

    def _user_side(self, message: Message, to: Target) -> list[Content]:
        """The content to send last, and before it, if calls are open that `message` does not answer, one that does."""
        call_message = Message("model", open_calls(self._contents, to, self._restore))
        contents = [content for content in contents_of([call_message, message], to) if content["role"] == "user"]
        if not contents:
            what = "results that answer no open call" if message.results else "a message that says nothing"
            raise InvalidRequestError(f"there is nothing to send in {what}")
        return contents


_plain = msgspec.json.Decoder(dict[str, Any])


def _chunk(data: bytes, to: Target) -> Chunk:
    return chunk(convert_to(decode_json(_plain, data), Line), to)
