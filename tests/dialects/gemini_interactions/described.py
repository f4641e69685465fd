"""The interface description of the API, which the wheel of `llm-comply` carries: what of an answer it does not allow.

It is older than the API in one place: the metadata of an event has its figures under `total_usage` there, and under
`usage` in recordings. Members that it does not know it allows.
"""

from __future__ import annotations

from ..descriptions import schema_faults
from ..requests import Json

EVENTS = {
    "interaction.created": "InteractionCreatedEvent",
    "interaction.status_update": "InteractionStatusUpdate",
    "step.start": "StepStart",
    "step.delta": "StepDelta",
    "step.stop": "StepStop",
    "interaction.completed": "InteractionCompletedEvent",
    "error": "ErrorEvent",
}
"""The schema of each event."""


def faults(schema: str, document: Json) -> list[str]:
    """Where a document is not what the description says of this schema."""
    return schema_faults("google_interactions", schema, document)


def event_faults(event: Json) -> list[str]:
    """Where an event is not what the description says of its type."""
    return faults(EVENTS[event["event_type"]], event)
