"""Interactions in the background: the same requests with `background`, and what is asked about one by its id.

The service has to store such an interaction, also where the session owns the history.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from google.genai import _interactions as sdk

from turnproof.errors import TransportError

from .._answer_items import Restore
from .._background import BackgroundCalls, State
from .._calling import Source
from .._decoding import convert_to
from .._resumed_stream import Position
from .calling import Caller
from .lifecycle import InteractionsProvider
from .wire import Event, Interaction

T = TypeVar("T")

NOT_KEPT = (403, 404)
"""Statuses under which an interaction is not, or no longer, kept: 403 was seen (googleapis/js-genai#1389)."""

_END = "interaction.completed"
"""An error is not the end of an interaction: it has an id to resume the stream behind it (google-genai 3.6)."""

_OF_THE_USER = ("user_input", "function_result")


class BackgroundInteractions(BackgroundCalls[Interaction, Event, Restore], InteractionsProvider):
    """What both paths ask about an interaction that the service works on."""

    _caller: Caller

    def _retrieve(self, name: str) -> Interaction:
        return _without_input(read_typed(self._require_client().interactions.get(id=name), Interaction))

    def _follow(self, name: str, last: Position | None = None) -> Source[Event]:
        last_event = None if last is None else str(last)
        stream: Any = self._require_client().interactions.get(id=name, stream=True, last_event_id=last_event)
        return Source((read_typed(event, Event) for event in stream), stream.close)

    def _position(self, event: Event) -> Position | None:
        return event.event_id if isinstance(event.event_id, str) and event.event_id else None

    def _cancel_stored(self, name: str) -> None:
        try:
            self._require_client().interactions.cancel(id=name)
        except sdk.APIStatusError as error:
            if not self._is_unknown(error):
                raise

    def _is_unknown(self, error: Exception) -> bool:
        return is_not_kept(error)

    def _name_of(self, answer: Interaction) -> str | None:
        return answer.id

    def _state_of(self, answer: Interaction) -> State:
        if answer.status == "in_progress":
            return "running"
        return "cancelled" if answer.status == "cancelled" else "over"

    def _progress(self, event: Event) -> tuple[str | None, bool]:
        return (None if event.interaction is None else event.interaction.id), event.event_type == _END


def is_not_kept(error: Exception) -> bool:
    """Whether the service says that it does not have an interaction."""
    return isinstance(error, sdk.APIStatusError) and error.status_code in NOT_KEPT


def read_typed(answer: Any, kind: type[T]) -> T:
    """An answer of the SDK's as one of ours. Raises TransportError for what is none."""
    try:
        if hasattr(answer, "model_dump"):
            return convert_to(answer.model_dump(mode="json", exclude_none=True), kind)
        why = f"{type(answer).__name__} where an object belongs"
    except (ValueError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
    # Raised out here: what the error may quote is not attached.
    raise TransportError(f"the SDK read what is no answer ({why:.200})", status=200)


def _without_input(interaction: Interaction) -> Interaction:
    """An interaction that is retrieved has the steps of its request in front of its own (documented)."""
    steps = interaction.steps
    if steps is None:
        return interaction
    own = next((n for n in range(len(steps), 0, -1) if steps[n - 1].get("type") in _OF_THE_USER), 0)
    return msgspec.structs.replace(interaction, steps=steps[own:])
