"""The stateless path: the session owns the history, and a call costs what is new in it.

Requests and answers are made as `_stateless` has it. A request is spliced into the SDK's own `generate_content` (see
`splice`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from google import genai

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse

from .._answers import Listeners
from .._calling import Prompt
from .._encoded_messages import request_body
from .._names import tool_names
from .._stateless import EncodesOnce
from .arrange import Arrangement, arrange_messages
from .assemble import Assembler, read_answer
from .encode import Encoder
from .managed import CachingGoogleProvider
from .models import target
from .names import restorer
from .rows import V, says_nothing
from .sdk_calls import Plain, Spliced
from .settings import Fields
from .splice import supported


class GoogleStateless(EncodesOnce[Arrangement[bytes]], CachingGoogleProvider):
    """`complete()` for the Gemini API. One object serves any number of conversations and threads."""

    def _fresh_encoder(self, model: str) -> Encoder:
        return Encoder(target(model))

    def _complete(self, prompt: Prompt, listeners: Listeners, token: CancelToken | None) -> ProviderResponse:
        client, settings = self._require_client(), self._settings()
        if token is not None:
            token.raise_if_cancelled()
        marked = self._annotated(prompt, token)
        fields = settings.fields(marked)
        request = self._request(client, settings.model, marked.messages, fields)
        to = target(settings.model)
        assembler = partial(Assembler, to, restorer(partial(tool_names, prompt.messages, prompt.tools)))
        caller = self._caller(fields.get("cachedContent"))
        with self._telling_of_lost_caches():
            if listeners.on_chunk is not None:
                return caller.call_stream(request.stream, assembler(listeners, token=token), token)
            return caller.call_batch(request.read_batch, partial(read_answer, assembler), listeners, token)

    def _request(
        self, client: genai.Client, model: str, messages: Sequence[Message], fields: Fields
    ) -> Plain | Spliced:
        to = target(model)
        if not supported():
            return Plain(client, model, to, _askable(arrange_messages(messages, to), messages).finish(), fields)
        sent = _askable(self._encoder.arranged(messages), messages).finish()
        return Spliced(client, model, to, request_body({}, "contents", sent, fields))


def _askable(arrangement: Arrangement[V], messages: Sequence[Message]) -> Arrangement[V]:
    """The arrangement. Raises InvalidRequestError for one that the API would refuse whatever the question is."""
    if messages and says_nothing(messages[-1]):
        arrangement.add_silence()
    if arrangement.problem is not None:
        raise InvalidRequestError(f"the Gemini API does not answer this conversation: {arrangement.problem}")
    return arrangement
