"""Responses in the background: the same requests with `background`, and what is asked about one by its id.

The service has to store such a response, also where the session owns the history.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx2
import openai

from ..._answer_items import Restore
from ..._background import BackgroundCalls, State
from ..._calling import Source
from ..._http import body_pieces
from ..._resumed_stream import Position
from ..._sse import payloads
from ..calling import Caller
from ..wire import Answer, Event, decode_answer, decode_event
from .provider import OpenAIResponses

IN_BACKGROUND = {"background": True, "store": True}
"""What a request has in addition."""

_RUNNING = ("queued", "in_progress")
_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class BackgroundResponses(BackgroundCalls[Answer, Event, Restore], OpenAIResponses):
    """What both paths ask about a response that the service works on."""

    _caller: Caller

    def _retrieve(self, name: str) -> Answer:
        return decode_answer(self._get(name, {}).content)

    def _follow(self, name: str, last: Position | None = None) -> Source[Event]:
        response = self._get(name, {"stream": "true", **({} if last is None else {"starting_after": str(last)})})
        return Source(map(decode_event, payloads(body_pieces(response))), response.close)

    def _get(self, name: str, params: Mapping[str, str]) -> httpx2.Response:
        options: Any = {"timeout": self._timeouts, "params": params}
        path, stream = f"/responses/{quote(name, safe='')}", "stream" in params
        return self._require_client().get(path, cast_to=httpx2.Response, options=options, stream=stream)

    def _position(self, event: Event) -> Position | None:
        number = event.sequence_number
        return number if isinstance(number, int) and not isinstance(number, bool) else None

    def _cancel_stored(self, name: str) -> None:
        with suppress(openai.NotFoundError):
            self._require_client().responses.cancel(name, timeout=self._timeouts)

    def _is_unknown(self, error: Exception) -> bool:
        return isinstance(error, openai.NotFoundError)

    def _name_of(self, answer: Answer) -> str | None:
        return answer.id

    def _state_of(self, answer: Answer) -> State:
        if answer.status in _RUNNING:
            return "running"
        return "cancelled" if answer.status == "cancelled" else "over"

    def _progress(self, event: Event) -> tuple[str | None, bool]:
        return (None if event.response is None else event.response.id), event.type in _ENDS
