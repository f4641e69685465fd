"""Conversations as bytes, each message encoded once.

Messages are frozen, so their encoding can be kept beside them. Two memos, both weak on the messages and both free to
be dropped at any time without changing a byte of any request: the blocks of a message, and the arrangement of a
conversation up to the messages that are still likely to change. The second makes a turn cost its new messages, however
long the history: an earlier request's beginning is recognised by the identity of its messages and gone on from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary, ref

import msgspec

from turnproof.errors import InvalidRequestError
from turnproof.messages import Message

from .arrange import Arrangement
from .blocks import Row, row
from .models import model as facts_of

_encoder = msgspec.json.Encoder()


def encode(value: Any) -> bytes:
    """Compact JSON in UTF-8. Raises InvalidRequestError for text that is not valid Unicode."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError as error:
        raise InvalidRequestError(f"the request holds text that is not valid Unicode: {error.reason}") from None


class BytesCodec:
    """Blocks and wire messages as JSON fragments."""

    def block(self, block: dict[str, Any]) -> bytes:
        """One block."""
        return _encoder.encode(block)

    def message(self, role: str, blocks: Sequence[bytes]) -> bytes:
        """One wire message of finished blocks."""
        return b'{"role":"%b","content":[%b]}' % (role.encode(), b",".join(blocks))


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The arrangement of a conversation's first messages, and which messages those were."""

    messages: list[ref[Message]]
    arrangement: Arrangement[bytes]

    def begins(self, messages: Sequence[Message]) -> bool:
        # References without a callback are shared, one to an object: this compares identities at the speed of C.
        return list(map(ref, messages[: len(self.messages)])) == self.messages


class Encoder:
    """Wire messages as bytes for one model. `encoded` counts the messages that had to be encoded so far."""

    LOOK_BACK = 64
    """How far from its end a conversation is searched for a beginning already arranged."""

    BEGINNINGS = 64
    """How many conversations are remembered that way; the one that grew longest ago goes first."""

    def __init__(self, model: str) -> None:
        self.encoded = 0
        self._model = model
        self._mid_system = facts_of(model).mid_system
        self._codec = BytesCodec()
        self._rows: WeakKeyDictionary[Message, Row[bytes]] = WeakKeyDictionary()
        self._beginnings: WeakKeyDictionary[Message, _Beginning] = WeakKeyDictionary()
        self._lock = Lock()

    def arranged(self, messages: Sequence[Message]) -> Arrangement[bytes]:
        """The conversation, arranged and encoded, still to be finished. Safe in several threads."""
        messages = list(messages)
        known = self._known_beginning(messages)
        start, arrangement = len(known.messages), known.arrangement.copy()
        settled, snapshot = start, None
        for place in range(start, len(messages)):
            message = messages[place]
            units = self._row(message)
            if snapshot is None and (units.marked or place == len(messages) - 1):
                # What the next request surely shares: marks move on with every turn, and the last message goes when a
                # turn fails.
                settled, snapshot = place, arrangement.copy()
            arrangement.add(message.role, units.units)
        if snapshot is not None and settled > start:
            grown = _Beginning(known.messages + list(map(ref, messages[start:settled])), snapshot)
            self._remember(grown, messages[settled - 1], replaces=messages[start - 1] if start else None)
        return arrangement

    def forget(self) -> None:
        """Drop both memos. Later requests cost more and are the same."""
        with self._lock:
            self._rows.clear()
            self._beginnings.clear()

    def _row(self, message: Message) -> Row[bytes]:
        units = self._rows.get(message)
        if units is None:
            units = self._rows[message] = row(message, self._codec, self._model)
            self.encoded += 1
        return units

    def _known_beginning(self, messages: list[Message]) -> _Beginning:
        for place in range(len(messages), max(0, len(messages) - self.LOOK_BACK), -1):
            known = self._beginnings.get(messages[place - 1])
            if known is not None and len(known.messages) == place and known.begins(messages):
                return known
        return _Beginning([], Arrangement(self._codec, mid_system=self._mid_system))

    def _remember(self, beginning: _Beginning, last: Message, *, replaces: Message | None) -> None:
        with self._lock:
            # A conversation that has grown needs its longest beginning only. Taken out first, it goes to the young end.
            for message in (replaces, last):
                if message is not None:
                    self._beginnings.pop(message, None)
            self._beginnings[last] = beginning
            for oldest in list(self._beginnings)[: -self.BEGINNINGS]:
                del self._beginnings[oldest]
