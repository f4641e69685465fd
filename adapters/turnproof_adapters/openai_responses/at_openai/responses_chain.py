"""A chain of responses (`_chain`), whoever keeps it: the service, or a socket."""

from __future__ import annotations

from collections.abc import Iterator

import openai

from ..._calling import Source
from ..._chain import Chain, Head
from ..wire import Answer, Event

FORGOTTEN = "previous_response_not_found"
"""The code of an error for a response that is not, or no longer, kept."""


def is_about_what_is_gone(error: Exception, head: Head) -> bool:
    """Whether a request failed because nobody keeps the response that it names."""
    return isinstance(error, openai.APIStatusError) and error.code == FORGOTTEN


class ResponsesChain(Chain):
    """What a subclass receives goes through here, and the id of a response that was completed is remembered."""

    def _note_id_of(self, answer: Answer) -> Answer:
        self._note_id(answer.id)
        self._completed_id = answer.id if answer.status == "completed" else None
        return answer

    def _noted_source(self, source: Source[Event]) -> Source[Event]:
        return Source(self._noted_events(source.events), source.close)

    def _noted_events(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event.response is not None:
                self._note_id(event.response.id)
                if event.type == "response.completed":
                    self._note_id_of(event.response)
            yield event
