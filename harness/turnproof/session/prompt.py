"""From what is typed to what is sent: the one place where a message of the user is made.

What is sent is what the history holds. What was typed, where that is something else, is kept beside it: a record for
each such message, saved with the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import force_setattr

from ..errors import UsageError
from ..messages import JSON, Message, MessageIds, Part, Text, freeze
from .history import SessionHistory


@dataclass(frozen=True, slots=True)
class Enriched:
    """What a hook made of a prompt. `about` is JSON for the record, of which the model sees nothing."""

    parts: Sequence[str | Part]
    about: JSON = None


Enrich: TypeAlias = Callable[[tuple[Part, ...]], Enriched]
"""Makes of what was typed what is sent: references looked up, templates filled in, files attached."""


class Typed(msgspec.Struct, frozen=True):
    """What was typed, where the message of that id says something else; `about` is what the hook noted of it."""

    message_id: str
    parts: tuple[Part, ...]
    about: JSON = None

    def __post_init__(self) -> None:
        force_setattr(self, "about", freeze(self.about, "$.about"))


class Prompts:
    """Makes the user's messages of a session, and remembers what was typed for as long as anybody holds them.

    `cancelled_at` is the message with which the last turn broke off, or None. While it is in the history, the next
    message begins with the `cancel_note`, if there is one.
    """

    def __init__(self, enrich: Enrich | None, cancel_note: str | None, ids: MessageIds) -> None:
        self.cancelled_at: Message | None = None
        self._enrich = enrich
        self._cancel_note = cancel_note
        self._ids = ids
        self._typed: WeakKeyDictionary[Message, Typed] = WeakKeyDictionary()

    def message(self, content: str | Sequence[str | Part], history: SessionHistory | None = None) -> Message:
        """A message of this content, to be said next in this history, if one is given.

        Raises UsageError where there is nothing to say, before or after the hook, and whatever the hook raises.
        """
        typed = _parts(content)
        if not typed:
            raise UsageError("a turn needs something to say: the content is empty")
        enriched = self._enriched(typed)
        # Behind the hook, which may have changed the history.
        message = Message("user", (*self._note(history), *_parts(enriched.parts)), self._ids())
        if message.parts != typed or enriched.about is not None:
            self._typed[message] = Typed(message.message_id, typed, enriched.about)
        return message

    def typed(self, message: Message) -> tuple[Part, ...]:
        """What was typed for a message: its own parts, unless there is a record."""
        record = self._typed.get(message)
        return message.parts if record is None else record.parts

    def records(self, messages: Iterable[Message]) -> tuple[Typed, ...]:
        """The records of those of the messages that have one, in their order."""
        return tuple(record for message in messages if (record := self._typed.get(message)) is not None)

    def remember(self, records: Iterable[Typed], messages: Iterable[Message]) -> None:
        """Take over saved records, for messages that were saved with them."""
        by_id = {record.message_id: record for record in records}
        for message in messages:
            if (record := by_id.get(message.message_id)) is not None:
                self._typed[message] = record

    def _note(self, history: SessionHistory | None) -> tuple[Part, ...]:
        if not self._cancel_note or self.cancelled_at is None or history is None:
            return ()
        return (Text(self._cancel_note),) if self.cancelled_at in history.messages_ref else ()

    def _enriched(self, typed: tuple[Part, ...]) -> Enriched:
        if self._enrich is None:
            return Enriched(typed)
        enriched = self._enrich(typed)
        if not isinstance(enriched, Enriched):
            raise UsageError(f"the enrich hook returned {type(enriched).__name__} instead of Enriched(parts)")
        if not enriched.parts:
            raise UsageError("the enrich hook returned no parts: nothing would be left to say")
        return enriched


def _parts(content: str | Sequence[str | Part]) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(Text(part) if isinstance(part, str) else part for part in content)
