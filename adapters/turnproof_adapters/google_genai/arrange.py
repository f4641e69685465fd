"""A conversation as the API insists on it, made message by message from left to right.

The content after the model's calls opens with one response for every call, in call order, and with no other: a call
without a result gets one that says so, and a result without a call is left out. What else was said follows, each
message as a content of its own (the API merges neighbours of one role itself). The rules are those of reported refusals
(`Please ensure that the number of function response parts is equal to the number of function call parts ...`).

Only the calls of the last model run and what followed them are still open at any time; everything before is closed and
never changes again. That makes a conversation resumable: `copy()` is a snapshot that costs nothing to keep, and going
on from it costs the new messages, not the history.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Generic

from turnproof.messages import Message

from . import convert
from .names import wire_name
from .rows import Call, Codec, Result, Row, V, row
from .target import Target

BEGINS_WITH_A_CALL = "it begins with a call of the model's, which may only follow the user's words or a result"


class Arrangement(Generic[V]):
    """Contents so far. Feed it with `add`, in order; `finish` gives them all and ends it."""

    __slots__ = ("_begins_with_a_call", "_calls", "_closed", "_codec", "_open_contents", "_results", "_to")

    def __init__(self, codec: Codec[V], to: Target) -> None:
        self._codec = codec
        self._to = to
        self._closed: list[V] = []
        self._calls: list[Call] = []
        self._results: list[Result[V]] = []
        self._open_contents: list[V] = []
        self._begins_with_a_call = False

    @property
    def problem(self) -> str | None:
        """Why the API would refuse to answer this conversation; None if it would not."""
        if not self._closed and not self._open_contents:
            return "nothing is said in it"
        if self._begins_with_a_call:
            return BEGINS_WITH_A_CALL
        if not self._open_contents and not self._calls:
            return "what was said last in it are the model's own words"
        return None

    def copy(self) -> Arrangement[V]:
        """A snapshot: adding to either leaves the other alone."""
        other = Arrangement(self._codec, self._to)
        other._closed = self._closed.copy()
        other._calls = self._calls.copy()
        other._results = self._results.copy()
        other._open_contents = self._open_contents.copy()
        other._begins_with_a_call = self._begins_with_a_call
        return other

    def add(self, content_row: Row[V]) -> None:
        """Append what one message says. Results answer calls before them, in a message of the model's its own too."""
        if content_row.content is not None and content_row.model:
            if self._open_contents or self._results:
                self._close()
            if not self._closed:
                self._begins_with_a_call = bool(content_row.calls)
            self._calls += content_row.calls
            self._closed.append(content_row.content)
        elif content_row.content is not None:
            self._open_contents.append(content_row.content)
        self._results += content_row.results

    def add_silence(self) -> None:
        """Append that the user says nothing: the API takes an empty text, and no content without parts."""
        self._open_contents.append(self._codec.content("user", [self._codec.part({"text": ""})]))

    def finish(self) -> list[V]:
        """All contents. The arrangement takes no more after this."""
        self._close()
        return self._closed

    def _close(self) -> None:
        """Write what followed the open calls."""
        if self._calls:
            self._closed.append(self._codec.content("user", self._responses()))
        self._closed += self._open_contents
        self._calls.clear()
        self._results.clear()
        self._open_contents.clear()

    def _responses(self) -> list[V]:
        found: dict[str, deque[Result[V]]] = {}
        for result in self._results:
            found.setdefault(result.id, deque()).append(result)
        responses: list[V] = []
        media_behind: list[V] = []
        for call in self._calls:
            waiting = found.get(call.id)
            if waiting:
                result = waiting.popleft()
                responses.append(self._response(result, call))
                # Media that a response cannot hold stands right behind it, so that it is seen whose it is; but
                # Anthropic takes nothing between the results of one step.
                (media_behind if self._to.anthropic else responses).extend(result.companions)
            else:
                responses.append(self._codec.part(convert.unanswered(call.id, call.name, self._to)))
        return responses + media_behind

    def _response(self, result: Result[V], call: Call) -> V:
        if wire_name(result.part.name) == call.name:
            return result.response
        return self._codec.part(convert.result(result.part, self._to, name=call.name)[0])


class DictCodec:
    """Parts and contents as the plain data that the SDK's own calls take."""

    def part(self, part: convert.WirePart) -> dict[str, Any]:
        """One part."""
        return part

    def content(self, role: str, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """One content."""
        return {"role": role, "parts": list(parts)}


def contents(messages: Sequence[Message], to: Target) -> list[dict[str, Any]]:
    """A whole conversation as plain data for a model."""
    return arrange_messages(messages, to).finish()


def arrange_messages(messages: Sequence[Message], to: Target) -> Arrangement[dict[str, Any]]:
    """The same, still to be finished."""
    codec = DictCodec()
    arrangement: Arrangement[dict[str, Any]] = Arrangement(codec, to)
    for message in messages:
        arrangement.add(row(message, codec, to))
    return arrangement
