"""A chain of responses (`_chain`), whoever keeps it: the service, or a socket."""

from __future__ import annotations

from collections.abc import Iterator

from ..._calling import Source
from ..._chain import Chain
from ..wire import Answer, Event


class ResponsesChain(Chain):
    """What a subclass receives goes through here, and the id of a response that was completed is remembered."""

    def _noted(self, answer: Answer) -> Answer:
        self._completed_id = answer.id if answer.status == "completed" else None
        return answer

    def _noted_source(self, source: Source[Event]) -> Source[Event]:
        return Source(self._noted_events(source.events), source.close)

    def _noted_events(self, events: Iterator[Event]) -> Iterator[Event]:
        for event in events:
            if event.type == "response.completed" and event.response is not None:
                self._noted(event.response)
            yield event
