"""What both paths are apart from a conversation, whoever serves the API: settings, and what a model can."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx2

from turnproof.cancel import CancelToken
from turnproof.messages import Message, ProviderResponse

from .._answer_items import Restore
from .._answers import Listeners
from .._calling import Prompt, Source
from .._lifecycle import ModelAbilities
from .._open_provider import positive_setting
from ..openai.lifecycle import Way
from .arrange import Arrangement
from .calling import Caller
from .convert import Item
from .items import row
from .models import Model
from .models import model as facts_of
from .request import Settings, reasoning_config
from .wire import Answer, Event


class ResponsesProvider(ModelAbilities):
    """Common ground of the two paths. A service's own class opens the client and finds the way to it."""

    _caller: Caller
    _timeouts: httpx2.Timeout

    def __init__(self) -> None:
        super().__init__()
        self._reasoning: dict[str, Any] | None = None
        self._max_tokens: int | None = None
        self._compact_threshold: int | None = None

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take the settings: `thinking` (as for `set_thinking_config`) and `max_tokens` may be left out."""
        super().initialize(config)
        self._reasoning = reasoning_config(config.get("thinking"))
        self._max_tokens = positive_setting(config, "max_tokens")

    @abstractmethod
    def _way(self, messages: Sequence[Message], token: CancelToken | None) -> Way:
        """The way for a request of this conversation. Raises UsageError where the provider is not open."""

    def _request_answer(
        self,
        ask: Callable[[], Answer],
        open_stream: Callable[[], Source[Event]],
        restore: Restore,
        listeners: Listeners,
        token: CancelToken | None,
    ) -> ProviderResponse:
        """The answer of a call."""
        return self._caller.call(ask, open_stream, restore, listeners, token)

    @property
    def _facts(self) -> Model:
        return facts_of(self._model)

    def set_thinking_config(self, config: Mapping[str, Any] | None) -> None:
        """Have later calls tell what the model thinks (`{"effort": ..., "summary": ...}`), or not (None)."""
        self._reasoning = reasoning_config(config)

    def _settings(self) -> Settings:
        return Settings(self._require_model(), self._max_tokens, self._reasoning, self._compact_threshold)

    def _kwargs(self, prompt: Prompt, stored_count: int = 0) -> dict[str, Any]:
        """A request as plain data for the SDK's own call, without the first `stored_count` messages, which the
        service has."""
        settings = self._settings()
        arrangement: Arrangement[Item] = Arrangement(_as_it_is)
        known = 0
        for place, message in enumerate(prompt.messages, 1):
            arrangement.add(row(message, _as_it_is, settings.model))
            if place == stored_count:
                known = arrangement.pass_answer()
        fields = settings.kwargs(prompt)
        return {**fields, "input": arrangement.finish()[known:]}


def _as_it_is(item: Item) -> Item:
    """The form that the SDK's own call takes."""
    return item
