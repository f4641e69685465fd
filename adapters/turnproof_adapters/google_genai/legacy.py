"""The legacy path: the history lives in a `Chat` of the SDK, which every message goes through.

The `Chat` records a turn by itself when its answer has come to its end. What it makes of other endings is not what this
path promises (`LegacyProvider`), and is put right by starting another `Chat` with the history as it should be:

- It records nothing of a stream that is not read to its end; a cancelled turn keeps the user's side and the partial
  answer.
- It takes a turn back, the user's side too, when some piece of the answer has no content: a last piece that brings only
  the finish reason, a candidate without parts, a part of a kind that the SDK does not know. Here what was said stays.
- It records an answer before a callback has heard of it, and one that turns out to be unusable; a failed call leaves
  the history as it was.

The configuration is given with every message, in full: the SDK takes the one of a message in place of the `Chat`'s own,
so that a response schema alone would send neither system text nor tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from google import genai
from google.genai import types
from google.genai.chats import Chat

from turnproof.cancel import CancelToken
from turnproof.errors import InvalidRequestError
from turnproof.messages import Message, ProviderResponse, ToolSchema

from .._answers import Listeners, with_structured_output
from .._calling import Prompt
from .._legacy import LegacySession, Schema
from .._names import tool_names
from .answers import chunks, read_sdk_answer
from .arrange import BEGINS_WITH_A_CALL
from .assemble import Assembler
from .contents import history_from_sdk, history_to_sdk, keep_ids
from .managed import CachingGoogleProvider
from .models import target
from .names import restorer
from .request import sdk_config
from .rows import says_nothing
from .sdk_calls import open_stream
from .settings import Fields


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A `Chat` of the SDK, and what it was started with."""

    client: genai.Client
    model: str
    chat: Chat

    @classmethod
    def start(cls, client: genai.Client, model: str, contents: Sequence[types.Content]) -> _Conversation:
        """A `Chat` that holds these contents."""
        return cls(client, model, client.chats.create(model=model, history=[*contents]))

    def restart(self, contents: Sequence[types.Content]) -> _Conversation:
        """Another one like it that holds these contents."""
        return self.start(self.client, self.model, contents)

    @property
    def contents(self) -> list[types.Content]:
        """What the `Chat` sends: the history that it calls curated."""
        return [*self.chat.get_history(curated=True)]


class GoogleLegacy(LegacySession, CachingGoogleProvider):
    """A conversation with the Gemini API. One object holds one conversation and serves one thread at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._conversation: _Conversation | None = None
        self._own_names: frozenset[str] = frozenset()
        self._restore = restorer(lambda: self._own_names)

    def _begin(self, history: list[Message], tools: tuple[ToolSchema, ...]) -> None:
        model = self._settings().model
        contents = history_to_sdk(history, model)
        if contents and contents[0].role == "model" and any(part.function_call for part in contents[0].parts or ()):
            raise InvalidRequestError(f"the Gemini API does not answer this conversation: {BEGINS_WITH_A_CALL}")
        self._conversation = _Conversation.start(self._require_client(), model, contents)
        self._own_names = frozenset(tool_names(history, tools))

    def get_history(self) -> list[Message]:
        """The conversation so far, read back from the `Chat`, in a list of the caller's own; message ids are new."""
        if self._conversation is None:
            return []
        return history_from_sdk(self._conversation.contents, self._conversation.model, self._restore)

    def _turn(
        self, message: Message, response_schema: Schema | None, listeners: Listeners, token: CancelToken | None
    ) -> ProviderResponse:
        conversation = self._up_to_date()
        if token is not None:
            token.raise_if_cancelled()
        before = conversation.contents
        *unanswered, content = self._user_side(conversation, message)
        until = [*before, *unanswered, content]
        if unanswered:
            conversation = conversation.restart(until[:-1])
        try:
            response = self._call(conversation, message, content, response_schema, listeners, token)
        except BaseException:
            self._conversation = conversation.restart(before)
            raise
        if not self._is_recorded(conversation, len(until), response):
            answer = history_to_sdk([Message("model", response.parts)], conversation.model)
            conversation = conversation.restart([*until, *answer])
        self._conversation = conversation
        self._usage = response.usage
        return response

    def _call(
        self,
        conversation: _Conversation,
        message: Message,
        content: types.Content,
        response_schema: Schema | None,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """One answer. Of the plugin's marks only those on system text and tools mean anything to this API."""
        prompt_messages = [*self.get_history(), message] if self._cache_plugin is not None else []
        marked = self._annotated(Prompt(prompt_messages, self._system, self._tools, response_schema), token)
        fields = self._settings().fields(marked)
        with self._telling_of_lost_caches():
            response = self._ask(conversation, content, fields, listeners, token)
        return with_structured_output(response, response_schema)

    def _ask(
        self,
        conversation: _Conversation,
        content: types.Content,
        fields: Fields,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        chat, message, config = conversation.chat, list(content.parts or ()), sdk_config(fields)
        to = target(conversation.model)
        assembler = partial(Assembler, to, self._restore)
        caller = self._caller(fields.get("cachedContent"))
        if listeners.on_chunk is not None:
            stream = partial(chunks, partial(open_stream, partial(chat.send_message_stream, message, config)), to)
            return caller.call_stream(stream, assembler(listeners, token=token), token)
        ask = partial(chat.send_message, message, config)
        return caller.call_batch(ask, partial(read_sdk_answer, assembler, to), listeners, token)

    def _up_to_date(self) -> _Conversation:
        """The conversation, in a `Chat` of the client and model that are in use now."""
        client, model, conversation = self._require_client(), self._settings().model, self._conversation
        if conversation is None or conversation.client is not client or conversation.model != model:
            conversation = self._conversation = _Conversation.start(
                client, model, history_to_sdk(self.get_history(), model)
            )
        return conversation

    def _user_side(self, conversation: _Conversation, new_message: Message) -> list[types.Content]:
        """The content to send last, and before it, if calls are open that `new_message` does not answer, one that
        does."""
        last = takewhile(lambda content: content.role == "model", reversed(conversation.contents))
        read = history_from_sdk([*last][::-1], conversation.model, self._restore)
        call_message = Message("model", tuple(call for message in read for call in message.calls))
        sent = history_to_sdk([call_message, new_message], conversation.model)
        contents = [content for content in sent if content.role == "user"]
        if not contents and says_nothing(new_message):
            return [types.Content(role="user", parts=[types.Part(text="")])]
        if not contents:
            what = "results that answer no open call" if new_message.results else "a message that says nothing"
            raise InvalidRequestError(f"there is nothing to send in {what}")
        return contents

    def _is_recorded(self, conversation: _Conversation, begin: int, response: ProviderResponse) -> bool:
        """Whether the `Chat` holds the answer, and nothing else, from `begin` on. It never holds one without parts."""
        answer = conversation.contents[begin:]
        keep_ids(answer, response.calls)
        read = history_from_sdk(answer, conversation.model, self._restore)
        return [message.parts for message in read] == [response.parts]
