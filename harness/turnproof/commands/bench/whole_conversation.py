"""A whole conversation, from empty: every turn sends all that was said so far, and its answer goes into the history."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ...errors import ProviderError
from ...messages import Message
from ...provider import Binding, Conversation, OnChunk, PlainConversation
from .callers import Caller, checked, endpoint, open_path
from .conversations import WHOLE, Answer, conversation, unique_text

TURNS = 200
"""How many turns it has, each of them two messages."""

_REHEARSED = 3


class Conversing(ABC):
    """One conversation after another, each of `turns` turns; see `turnproof.provider.PlainCall`."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.turns = TURNS

    @abstractmethod
    def ready(self) -> None:
        """Begin anew, with nothing said."""

    @abstractmethod
    def _send(self, text: str) -> str:
        """One turn."""

    def ask(self) -> str:
        """All turns; the last answer. Raises ProviderError for another answer than the server's."""
        for number in range(self.turns):
            if (answer := self._send(unique_text(number))) != WHOLE.text:
                raise ProviderError(f"in turn {number + 1} the caller received {answer!r:.60}")
        return answer

    def stream(self, on_chunk: OnChunk) -> None:
        """The same. Nothing is streamed here."""
        on_chunk(self.ask())

    def close(self) -> None:
        """Shut the provider down."""
        self._provider.shutdown()


class StatelessConversing(Conversing):
    """The history is ours, a list of messages."""

    def __init__(self, provider: Any, talk: Conversation) -> None:
        super().__init__(provider)
        self._system, self._tools = talk.system, list(talk.tools) or None

    def ready(self) -> None:
        self._messages: list[Message] = []

    def _send(self, text: str) -> str:
        self._messages.append(Message.user(text))
        response = self._provider.complete(self._messages, self._system, self._tools)
        self._messages.append(Message.model(*response.parts))
        return str(response.text)


class LegacyConversing(Conversing):
    """The history is the provider's."""

    def __init__(self, provider: Any, talk: Conversation) -> None:
        super().__init__(provider)
        self._system, self._tools = talk.system, list(talk.tools) or None

    def ready(self) -> None:
        self._provider.create_session(self._system, self._tools, [])

    def _send(self, text: str) -> str:
        return str(self._provider.send_message(text).text)


class PlainConversing(Conversing):
    """The history is that of a user of the SDK."""

    def __init__(self, call: PlainConversation) -> None:
        super().__init__(call)

    def ready(self) -> None:
        self._provider.begin()

    def _send(self, text: str) -> str:
        return str(self._provider.say(text))

    def close(self) -> None:
        self._provider.close()


def open_conversing(binding: Binding, name: str, base_url: str) -> Conversing | None:
    """A path, or a plain call of the binding, by name. None for a call that holds no conversation."""
    talk = conversation(2, tools=binding.claims().tools)
    match name:
        case "stateless":
            return StatelessConversing(open_path(binding, "stateless", base_url), talk)
        case "legacy":
            return LegacyConversing(open_path(binding, "legacy", base_url), talk)
    call = binding.plain_calls[name](endpoint(binding, base_url), talk)
    if not isinstance(call, PlainConversation):
        call.close()
        return None
    return PlainConversing(call)


def rehearsed(caller: Caller, answer: Answer) -> None:
    """See that a caller is told what the server says; of a conversation its first turns. Raises ProviderError."""
    if not isinstance(caller, Conversing):
        return checked(caller, answer)
    caller.turns = _REHEARSED
    checked(caller, answer)
    caller.turns = TURNS
    return None
