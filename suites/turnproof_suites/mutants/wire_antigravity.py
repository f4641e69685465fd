"""Where the gateway `v1internal` keeps what mutants break: Gemini's bodies, each in an envelope."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from turnproof.dialects.base import HttpRequest, WireEvent

from ._events import document_of
from ._wire import Json
from .wire_gemini import GeminiWire, asks_for_answer

_OTHER_MODEL = "gemini-2.5-pro"


class AntigravityWire(GeminiWire):
    """See `Wire`. In the form of `to_messages` a body is what stands in the envelope, which is kept beside it."""

    def is_request_for(self, request: HttpRequest) -> bool:
        return asks_for_answer(request) and "/v1internal:" in request.path

    def to_messages(self, body: Json) -> Json:
        return {**body.pop("request"), "envelope": body}

    def from_messages(self, body: Json) -> Json:
        inside = dict(body)
        envelope: Json = inside.pop("envelope")
        return {**envelope, "request": inside}

    def for_other_model(self, request: HttpRequest) -> HttpRequest:
        body = msgspec.json.decode(request.body) | {"model": _OTHER_MODEL}
        return replace(request, body=msgspec.json.encode(body))

    def document(self, event: WireEvent) -> Json | None:
        """What stands in the envelope of an answer; clients have met answers without one."""
        found = document_of(event)
        return found if found is None else found.get("response", found)

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        envelope = document_of(event) or {}
        return super().with_document(event, envelope | {"response": document} if "response" in envelope else document)
