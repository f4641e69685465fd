"""A conversation as a user of an SDK holds it: a history of dicts that grows. Paths are measured against it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import msgspec


class DictConversation:
    """A `turnproof.provider.PlainConversation` of an SDK whose messages are dicts; a subclass makes the calls."""

    history_field: ClassVar[str] = "messages"
    """The argument of the SDK's call that takes the history."""

    instructions: ClassVar[int] = 0
    """How many messages at its beginning hold the system text."""

    _request: dict[str, Any]
    history: list[Any]

    def _hold(self, request: dict[str, Any]) -> None:
        """Take the request that every `ask` sends."""
        self._request = plain_data(request)
        self.history = self._request[self.history_field]

    @abstractmethod
    def _answer(self, request: dict[str, Any]) -> str:
        """The text of the answer to a request."""

    def ready(self) -> None:
        """Every call sends the same request."""

    def ask(self) -> str:
        """The text of one answer."""
        return self._answer(self._request)

    def begin(self) -> None:
        """Start a conversation anew, with the system text and nothing else."""
        self.history = self._request[self.history_field][: self.instructions]

    def say(self, text: str) -> str:
        """One turn."""
        self.history.append({"role": "user", "content": text})
        answer = self._answer({**self._request, self.history_field: self.history})
        self.history.append({"role": "assistant", "content": answer})
        return answer


def plain_data(request: dict[str, Any]) -> Any:
    """Through JSON: frozen payloads become the plain dicts that a user of the SDK would have."""
    return msgspec.json.decode(msgspec.json.encode(request))
