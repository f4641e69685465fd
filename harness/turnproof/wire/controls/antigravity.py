"""The control of Google's Cloud Code gateway (the sources of gemini-cli: code_assist/converter.ts and server.ts).

It is given an access token and asks a model that demands no signatures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...provider import Endpoint
from ._adapter import Answer, Request, control
from .gemini import Candidate, GenerateContentApi


class CloudCodeApi(GenerateContentApi):
    """`POST /v1internal:generateContent`, or `:streamGenerateContent`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """What the Gemini API takes, in an envelope."""
        _, _, body = super().request(request, endpoint)
        verb = "streamGenerateContent?alt=sse" if request.streamed else "generateContent"
        envelope = {"model": endpoint.model, "project": "a-project", "request": body}
        return f"/v1internal:{verb}", {"authorization": f"Bearer {endpoint.api_key}"}, envelope

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One candidate, in an envelope."""
        return _Enveloped(callbacks, next_id=self.next_id(request))


@dataclass
class _Enveloped(Candidate):
    def read_document(self, document: Any) -> None:
        super().read_document(document["response"])


CONTROL = control("antigravity", "gemini-2.5-flash", CloudCodeApi())
