"""A conversation as the API insists on it, made message by message from left to right.

Behind each message of the model that calls stand its results, one for every call, in call order, and no other; then
what its results show besides, then what else was said. A call without a result gets one that says so, a result without
a call is left out, and so is a message that has nothing to say. The rules are those of refusals seen in public issues
("must be followed by tool messages responding to each 'tool_call_id'"). Neighbours of one role stay apart: the API
takes them as they are.

Only the last messages of the model and what followed them are still open at any time; everything before is closed and
never changes again. That makes a conversation resumable: `copy()` is a snapshot that costs nothing to keep, and going
on from it costs the new messages, not the history.
"""

from __future__ import annotations

from collections import deque
from typing import Generic

from turnproof.messages import FunctionCall, Message

from .._sendable import require_messages
from . import convert
from .names import wire_id
from .rows import Codec, Result, Row, V, wire_message
from .service import Service


class Arrangement(Generic[V]):
    """Wire messages so far. Feed it with `add`, in order; `finish` gives them all and ends it."""

    __slots__ = ("_closed", "_codec", "_model", "_open", "_others", "_results", "_service")

    def __init__(self, codec: Codec[V], service: Service, model: str) -> None:
        self._codec = codec
        self._service = service
        self._model = model
        self._closed: list[V] = []
        self._open: list[Row[V]] = []
        self._results: list[Result[V]] = []
        self._others: list[V] = []

    def copy(self) -> Arrangement[V]:
        """A snapshot: adding to either leaves the other alone."""
        other = Arrangement(self._codec, self._service, self._model)
        other._closed = self._closed.copy()
        other._open = self._open.copy()
        other._results = self._results.copy()
        other._others = self._others.copy()
        return other

    def add(self, row: Row[V]) -> None:
        """Append one neutral message. Results in a message of the model's answer its own calls too."""
        if not row.of_model:
            self._results.extend(row.results)
            if row.message is not None:
                self._others.append(row.message)
            return
        if row.message is not None:
            if self._is_answered():
                self._close()
            self._open.append(row)
        self._results.extend(row.results)

    def finish(self) -> list[V]:
        """All wire messages. The arrangement takes no more after this.

        Raises InvalidRequestError where there is none.
        """
        self._close()
        return require_messages(self._closed)

    def _is_answered(self) -> bool:
        """Whether anything was said to the open messages of the model: orphan results alone are nothing."""
        return bool(self._others) or (bool(self._results) and any(row.calls for row in self._open))

    def _close(self) -> None:
        """Write the open messages of the model with their results, then what followed them."""
        found: dict[str, deque[Result[V]]] = {}
        for each in self._results:
            found.setdefault(each.part.call_id, deque()).append(each)
        shown: list[V] = []
        for row in self._open:
            ids = _told_apart(row.calls)
            self._closed += self._model_messages(row, ids)
            for call, sent in zip(row.calls, ids, strict=True):
                waiting = found.get(call.id)
                result = waiting.popleft() if waiting else None
                self._closed.append(self._answer(result, sent))
                if result is not None and result.companion is not None:
                    shown.append(result.companion)
        self._closed += shown
        self._closed += self._others
        self._open.clear()
        self._results.clear()
        self._others.clear()

    def _model_messages(self, row: Row[V], ids: list[str]) -> list[V]:
        """What the model said: written again where its calls go by other ids than their own."""
        if not row.parts or ids == [wire_id(call.id) for call in row.calls]:
            return [] if row.message is None else [row.message]
        wire = wire_message(Message.model(*row.parts), ids, self._service, self._model)
        return [] if wire is None else [self._codec(wire)]

    def _answer(self, result: Result[V] | None, sent: str) -> V:
        if result is None:
            return self._codec(convert.unanswered(sent))
        if sent == wire_id(result.part.call_id):
            return result.wire
        return self._codec(convert.result(result.part, sent))


def _told_apart(calls: tuple[FunctionCall, ...]) -> list[str]:
    """The wire ids of the calls of one message; a repeated one is told apart by its place."""
    wire_ids: list[str] = []
    for call in calls:
        own, place = call.id, 1
        sent = wire_id(own)
        while sent in wire_ids:
            place += 1
            sent = wire_id(f"{own}_{place}")
        wire_ids.append(sent)
    return wire_ids
