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

    def create_session(
        self, system: str | None = None, tools: Sequence[Tool] = (), history: Sequence[Note] = ()
    ) -> None:
        """Begin a conversation, or go on from one."""
        self._system, self._tools = system, list(tools)
        self._history = list(history)

    def get_history(self) -> list[Note]:
        """The conversation so far."""
        return list(self._history)

    def send_message(self, text: str, stop: Stop) -> Answer:
        """Say something. What fails leaves no trace; what is stopped leaves what was said until then."""
        return self._turn(Note("human", text), None, stop)

    def send_message_streaming(self, text: str, on_text: OnText, stop: Stop) -> Answer:
        """Say something, and hear the answer as it comes."""
        return self._turn(Note("human", text), on_text, stop)

    def send_tool_results(self, outcomes: Sequence[Outcome], stop: Stop) -> Answer:
        """Answer the calls of the last answer."""
        return self._turn(Note("tools", outcomes=tuple(outcomes)), None, stop)

    def send_tool_results_streaming(self, outcomes: Sequence[Outcome], on_text: OnText, stop: Stop) -> Answer:
        """Answer them, and hear what is said to it as it comes."""
        return self._turn(Note("tools", outcomes=tuple(outcomes)), on_text, stop)

    def _turn(self, entry: Note, on_text: OnText | None, stop: Stop) -> Answer:
        self._history.append(entry)
        try:
            answer = self._ask(self._body(), on_text, stop)
        except BaseException:
            self._history.pop()
            raise
        if answer.note is not None:
            self._history.append(answer.note)
        return answer

    # -- the wire

    def _ask(self, body: dict[str, Any], on_text: OnText | None, stop: Stop) -> Answer:
        """What the service answers to a request. Nothing at all is an answer that was stopped."""
        try:
            answer = self._send(body, on_text, stop)
        except ModelError as error:
            if stop.pressed:
                return Answer(None, stopped=True)
            self._note_refusal(error)
            raise
        return answer if answer is not None else Answer(None, stopped=True)

    @abstractmethod
    def _body(self) -> dict[str, Any]:
        """The request that the conversation makes."""

    @abstractmethod
    def _send(self, body: dict[str, Any], on_text: OnText | None, stop: Stop) -> Answer | None:
        """Send a request; None where it was stopped before there was an answer."""

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
