"""Conversations as bytes, each message encoded once, whatever the API.

Messages are frozen, so their encoding can be kept beside them. Two memos, both weak on the messages and both free to
be dropped at any time without changing a byte of any request: the row of a message, and the arrangement of a
conversation up to the messages that are still likely to change. The second makes a turn cost its new messages, however
long the history: an earlier request's beginning is recognised by the identity of its messages and gone on from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Generic, Protocol, Self, TypeVar
from weakref import WeakKeyDictionary, ref

import msgspec

from turnproof.errors import InvalidRequestError
from turnproof.messages import Message

_encoder = msgspec.json.Encoder()


def encode(value: object) -> bytes:
    """Compact JSON in UTF-8. Raises InvalidRequestError for text that is not valid Unicode."""
    try:
        return _encoder.encode(_copy_texts(value))
    except UnicodeEncodeError as error:
        raise InvalidRequestError(f"the request holds text that is not valid Unicode: {error.reason}") from None


def _copy_texts(value: object) -> object:
    """The same value with other text objects in it.

    A text that is not ASCII keeps the UTF-8 form that an encoder asks it for as long as it lives. A message's own text
    would be held twice by that, with the message's encoding three times.
    """
    if isinstance(value, str):
        return value if value.isascii() else value[:1] + value[1:]
    if isinstance(value, dict):
        return {name: _copy_texts(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_copy_texts(each) for each in value]
    return value


def request_body(opening: Mapping[str, Any], name: str, pieces: list[bytes], closing: Mapping[str, Any]) -> bytes:
    """A request whose list `name` holds these encoded pieces, between the fields of `opening` and those of `closing`.
    Uses `pieces` up."""
    before = encode(opening)[:-1] + (b"," if opening else b"")
    # The ends are put on before joining: the long run in the middle is copied once.
    pieces[0] = b'%b"%b":[%b' % (before, name.encode(), pieces[0])
    pieces[-1] += b"]," + encode(closing)[1:] if closing else b"]}"
    return b",".join(pieces)


class Row(Protocol):
    """One message, encoded, still apart from its neighbours."""

    @property
    def marked(self) -> bool:
        """Whether the message carries a cache mark."""


class Arranging(Protocol):
    """A conversation on its way onto the wire, that can be gone on from."""

    def copy(self) -> Self:
        """A snapshot: adding to either leaves the other alone."""

    def add(self, row: Any, /) -> None:
        """Append one message's row."""


A = TypeVar("A", bound=Arranging)


@dataclass(frozen=True, slots=True)
class _Beginning(Generic[A]):
    """The arrangement of a conversation's first messages, and which messages those were."""

    messages: list[ref[Message]]
    arrangement: A

    def begins(self, messages: list[Message]) -> bool:
        # Messages are equal only to themselves: this compares identities at the speed of C.
        return [known() for known in self.messages] == messages[: len(self.messages)]


class Encoder(Generic[A]):
    """Arranges conversations. `fresh` makes an empty arrangement, `row` a message's row for it.

    `encoded` counts the messages that had to be encoded so far.
    """

    LOOK_BACK = 64
    """How far from its end a conversation is searched for a beginning already arranged."""

    BEGINNINGS = 64
    """How many conversations are remembered that way; the one that grew longest ago goes first."""

    def __init__(self, fresh: Callable[[], A], row: Callable[[Message], Row]) -> None:
        self.encoded = 0
        self._fresh = fresh
        self._make = row
        self._rows: WeakKeyDictionary[Message, Row] = WeakKeyDictionary()
        self._beginnings: WeakKeyDictionary[Message, _Beginning[A]] = WeakKeyDictionary()
        self._lock = Lock()

    def arranged(self, messages: Sequence[Message]) -> A:
        """The conversation, arranged and encoded, still to be finished. Safe in several threads."""
        messages = list(messages)
        known = self._known_beginning(messages)
        start, arrangement = len(known.messages), known.arrangement.copy()
        settled, snapshot = start, None
        for place in range(start, len(messages)):
            row = self._row(messages[place])
            if snapshot is None and (row.marked or place == len(messages) - 1):
                # What the next request surely shares: marks move on with every turn, and the last message goes when a
                # turn fails.
                settled, snapshot = place, arrangement.copy()
            arrangement.add(row)
        if snapshot is not None and settled > start:
            beginning = _Beginning(known.messages + list(map(ref, messages[start:settled])), snapshot)
            self._remember(beginning, messages[settled - 1], replaces=messages[start - 1] if start else None)
        return arrangement

    def forget(self) -> None:
        """Drop both memos. Later requests cost more and are the same."""
        with self._lock:
            self._rows.clear()
            self._beginnings.clear()

    def _row(self, message: Message) -> Row:
        row = self._rows.get(message)
        if row is None:
            row = self._rows[message] = self._make(message)
            self.encoded += 1
        return row

    def _known_beginning(self, messages: list[Message]) -> _Beginning[A]:
        for place in range(len(messages), max(0, len(messages) - self.LOOK_BACK), -1):
            known = self._beginnings.get(messages[place - 1])
            if known is not None and len(known.messages) == place and known.begins(messages):
                return known
        return _Beginning([], self._fresh())

    def _remember(self, beginning: _Beginning[A], last: Message, *, replaces: Message | None) -> None:
        with self._lock:
            # A conversation that has grown needs its longest beginning only. Taken out first, it goes to the young end.
            for message in (replaces, last):
                if message is not None:
                    self._beginnings.pop(message, None)
            self._beginnings[last] = beginning
            for oldest in list(self._beginnings)[: -self.BEGINNINGS]:
                del self._beginnings[oldest]
