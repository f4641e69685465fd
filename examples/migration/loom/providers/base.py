"""What a session asks of a provider."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from ..cache import Breakpoints
from ..http import Http, ModelError, Stop
from ..notes import Answer, Note, Outcome, Tool, from_json, to_json

OnText = Callable[[str], object]


class Provider(ABC):
    """One conversation with one model. The provider keeps it."""

    def __init__(self, http: Http, model: str) -> None:
        self.model = model
        self._http = http
        self._cache: Breakpoints | None = None
        self._refused_tokens = 0
        self.create_session()

    # -- the conversation

    @abstractmethod
    def create_session(
        self, system: str | None = None, tools: Sequence[Tool] = (), history: Sequence[Note] = ()
    ) -> None:
        """Begin a conversation, or go on from one."""

    @abstractmethod
    def get_history(self) -> list[Note]:
        """The conversation so far."""

    @abstractmethod
    def send_message(self, text: str, stop: Stop) -> Answer:
        """Say something. What fails leaves no trace; what is stopped leaves what was said until then."""

    @abstractmethod
    def send_message_streaming(self, text: str, on_text: OnText, stop: Stop) -> Answer:
        """Say something, and hear the answer as it comes."""

    @abstractmethod
    def send_tool_results(self, outcomes: Sequence[Outcome], stop: Stop) -> Answer:
        """Answer the calls of the last answer."""

    @abstractmethod
    def send_tool_results_streaming(self, outcomes: Sequence[Outcome], on_text: OnText, stop: Stop) -> Answer:
        """Answer them, and hear what is said to it as it comes."""

    # -- everything else

    @abstractmethod
    def get_context_limit(self) -> int:
        """How many tokens fit."""

    def classify_error(self, error: ModelError) -> dict[str, bool]:
        """Whether it is worth trying again, and whether the service finds the conversation too long."""
        transient = error.status in (0, 429) or error.status >= 500
        return {"transient": transient, "too_long": self._is_too_long(error)}

    @abstractmethod
    def _is_too_long(self, error: ModelError) -> bool:
        """Whether that is what the service complains about."""

    def count_tokens(self, history: Sequence[Note]) -> int:
        """About how many tokens a conversation takes."""
        return len(self.serialize_history(history)) // 4

    def serialize_history(self, history: Sequence[Note]) -> str:
        """A conversation as text."""
        return json.dumps([to_json(note) for note in history])

    def deserialize_history(self, text: str) -> list[Note]:
        """The inverse."""
        return [from_json(data) for data in json.loads(text)]

    def set_cache_plugin(self, cache: Breakpoints) -> None:
        """Mark requests as it says."""
        self._cache = cache

    def history_changed(self) -> None:
        """What was sent before is not what will be sent next."""
        if self._cache is not None:
            self._cache.forget()

    def _note_refusal(self, error: ModelError) -> None:
        """Keep how much was refused as too long, for whoever makes it shorter."""
        words: list[Any] = [word for word in str(error).replace(",", " ").split() if word.isdigit()]
        self._refused_tokens = max((int(word) for word in words), default=0)
