"""Which message may be collected, as far as the conversation itself tells."""

from __future__ import annotations

from collections.abc import Mapping

from ..messages import Message
from .model import Mark, Policy, Source
from .notes import begins_turn, is_note


class Policies:
    """Walks along a conversation, message by message, and gives each its source and policy.

    The first thing that the user said is what all is about: locked. Tool rounds are the way to an answer, and the
    answer that came of them stands for them: they may go, it is preserved, as is a collector's summary. The rest goes
    with its turn. What somebody marked is as marked.
    """

    def __init__(self, marks: Mapping[str, Mark]) -> None:
        self.turns = 0
        """Turns begun so far. What is marked as enrichment begins none."""
        self._marks = marks
        self._worked = False

    def mark(self, message: Message) -> Mark:
        """The source and policy of the next message."""
        mark = self._marks.get(message.message_id)
        if mark is not None and mark.source is Source.ENRICHMENT:
            return mark
        seen = self._mark_new(message)
        return seen if mark is None else mark

    def _mark_new(self, message: Message) -> Mark:
        if begins_turn(message):
            self.turns += 1
            self._worked = False
            return _FIRST if self.turns == 1 else _CONVERSATION
        if is_note(message):
            return _NOTICE if is_note(message, "notice") else _ANSWER_TO_WORK
        if message.role == "tool" or message.calls:
            self._worked = True
            return _WORK
        if message.role == "model":
            return _ANSWER_TO_WORK if self._worked else _CONVERSATION
        return _INTERJECTED


_FIRST = Mark(Source.CONVERSATION, Policy.LOCKED)
_CONVERSATION = Mark(Source.CONVERSATION, Policy.PARTIAL)
_WORK = Mark(Source.CONVERSATION, Policy.EPHEMERAL)
_ANSWER_TO_WORK = Mark(Source.CONVERSATION, Policy.PRESERVABLE)
_NOTICE = Mark(Source.ENRICHMENT, Policy.EPHEMERAL)
_INTERJECTED = Mark(Source.CONVERSATION, Policy.CONDITIONAL)
