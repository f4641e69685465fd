"""The interface description of the API, which the wheel of `llm-comply` carries: what of an answer it does not allow.

It is older than the API in one place: the metadata of an event has its figures under `total_usage` there, and under
`usage` in recordings. Members that it does not know it allows.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

import pytest

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


@cache
def _validator(schema: str) -> Any:
    pytest.importorskip("llm_comply")
    jsonschema, referencing = pytest.importorskip("jsonschema"), pytest.importorskip("referencing.jsonschema")
    registry_type = pytest.importorskip("referencing").Registry
    document = json.loads((resources.files("llm_comply") / "specs" / "google_interactions.json").read_text("utf-8"))
    resource = referencing.DRAFT202012.create_resource(document)
    registry = registry_type().with_resource("urn:api", resource)
    return jsonschema.Draft202012Validator({"$ref": f"urn:api#/components/schemas/{schema}"}, registry=registry)


def faults(schema: str, document: Json) -> list[str]:
    """Where a document is not what the description says of this schema."""
    return [f"{error.json_path}: {error.message:.200}" for error in _validator(schema).iter_errors(document)]


def event_faults(event: Json) -> list[str]:
    """Where an event is not what the description says of its type."""
    return faults(EVENTS[event["event_type"]], event)
