"""What of an exchange may be written to disk. The search for what must not be is in `_secrets`.

Everything is kept by allow-list: a header, parameter or body that nobody named is dropped, so that a provider's new
header cannot leak by being unknown. Bodies are kept for the operations that a dialect reads and in the media types
it speaks; the answers of token endpoints are neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from ...dialects.base import SOCKET_METHOD, Call, HttpRequest, Operation, Service
from .model import RecordedRequest, RecordedResponse

REQUEST_HEADERS = frozenset({"accept", "content-type"})
RESPONSE_HEADERS = frozenset({"content-type", "retry-after"})
"""Kept of every service; what else may be kept of one, its dialect says (`Service`)."""
MEDIA_TYPES = frozenset({"application/json", "application/x-ndjson", "text/event-stream", "text/plain"})


def select_headers(values: Mapping[str, str], allowed: frozenset[str]) -> dict[str, str]:
    """The entries whose names are allowed, names in lower case."""
    return {name.lower(): value for name, value in values.items() if name.lower() in allowed}


def scrub_request(request: HttpRequest, host: str, service: Service) -> RecordedRequest:
    """The request as it may be written, addressed to the provider's real `host` (https where it names no scheme)."""
    base = host if "://" in host else f"https://{host}"
    query = urlencode(sorted(select_headers(request.query, service.query_parameters).items()))
    uri = base.rstrip("/") + request.path + (f"?{query}" if query else "")
    headers = select_headers(request.headers, REQUEST_HEADERS | service.request_headers)
    return RecordedRequest(request.method, uri, headers, request.body)


def scrub_response(status: int, headers: Mapping[str, str], body: bytes, service: Service) -> RecordedResponse:
    """The response as it may be written."""
    return RecordedResponse(status, select_headers(headers, RESPONSE_HEADERS | service.response_headers), body)


def unscrub_request(recorded: RecordedRequest) -> HttpRequest:
    """The recorded request in the form that a dialect parses."""
    parts = urlsplit(recorded.uri)
    return HttpRequest(recorded.method, parts.path, dict(parse_qsl(parts.query)), recorded.headers, recorded.body)


UNRECORDED: frozenset[Operation] = frozenset({"authenticate", "connect", "other"})
"""What never gets into a cassette: the exchange of credentials, the opening of a socket, and what is about an account
and not about a model."""


def why_not_written(request: HttpRequest, call: Call, headers: Mapping[str, str], body: bytes) -> str | None:
    """Why this exchange must stay out of a cassette (its bodies are on no allow-list), or None."""
    if call.operation in UNRECORDED:
        return "an exchange of credentials" if call.operation == "authenticate" else "no operation of the dialect"
    # A message on a socket has no type of its own: the dialect has read it as JSON.
    request_body = b"" if request.method == SOCKET_METHOD else request.body
    for side, headers_of_side, data in (("request", request.headers, request_body), ("response", headers, body)):
        kind = media_type(headers_of_side)
        if data and kind not in MEDIA_TYPES:
            return f"{side} body of type {kind or 'unknown'!r}"
    return None


def media_type(headers: Mapping[str, str]) -> str:
    """The type of a body by its headers, in lower case and without parameters; empty if they name none."""
    value = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()
