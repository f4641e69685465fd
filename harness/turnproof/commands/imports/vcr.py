"""Cassettes of vcrpy, pytest-recording and turnproof itself, as YAML or JSON."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from .exchanges import RecordedExchange
from .located import Place


def is_cassette(data: Any) -> bool:
    """Whether parsed YAML or JSON is a cassette."""
    return isinstance(data, dict) and isinstance(data.get("interactions"), list)


def read_cassette(data: Any, file: str) -> Iterator[RecordedExchange]:
    """The exchanges of a cassette, in its order. Raises UsageError with the spot that is not as vcrpy has it."""
    day = _day_of_turnproof(data)
    for entry in Place(data, file).at("interactions").items():
        request, response = entry.at("request"), entry.at("response")
        headers = _headers(response)
        uri = request.get("uri") or request.get("url")  # `url` in cassettes of other languages
        if uri is None:
            raise request.problem("has no 'uri'")
        status = response.at("status")
        yield RecordedExchange(
            where=f"{file}: {entry.path}",
            method=request.at("method").text().upper(),
            url=uri.text(),
            request_headers=_headers(request),
            request_body=_request_body(request),
            status=(status.at("code") if isinstance(status.value, dict) else status).integer(),
            response_headers={name: value for name, value in headers.items() if name != "content-encoding"},
            response_body=_unpacked(_response_body(response), headers.get("content-encoding", ""), response),
            day=day or _day(entry, headers),
        )


def _headers(place: Place) -> dict[str, str]:
    found = place.get("headers")
    if found is None:
        return {}
    if not isinstance(found.value, dict):
        raise found.problem("should be an object of headers")
    return {
        str(name).lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in found.value.items()
    }


def _request_body(place: Place) -> bytes:
    if "parsed_body" in place.value:  # pydantic-ai's serialiser
        return msgspec.json.encode(place.value["parsed_body"])
    return _bytes(place.get("body"))


def _response_body(place: Place) -> bytes:
    if "parsed_body" in place.value:
        return msgspec.json.encode(place.value["parsed_body"])
    return _bytes(place.get("body"))


def _bytes(place: Place | None) -> bytes:
    """A body: a text, bytes, or an object with `string`, `base64_string` or `encoding`."""
    if place is None:
        return b""
    match place.value:
        case bytes() as plain:
            return plain
        case str() as text:
            return text.encode()
        case {"string": _}:
            return _bytes(place.get("string"))
        case {"base64_string": str() as packed}:
            return _decoded(packed, place)
        case dict() | list():
            return msgspec.json.encode(place.value)
        case _:
            raise place.problem("should be a body: a text, or an object with 'string'")


def _decoded(packed: str, place: Place) -> bytes:
    try:
        return base64.b64decode(packed, validate=False)
    except binascii.Error as error:
        raise place.problem(f"is no base64: {error}") from error


def _unpacked(body: bytes, encoding: str, place: Place) -> bytes:
    """The body without its compression. Many recorders unpack it and leave the header as it was."""
    try:
        if encoding == "gzip" and body.startswith(b"\x1f\x8b"):
            return gzip.decompress(body)
        if encoding == "deflate" and body[:1] == b"\x78":
            return zlib.decompress(body)
    except (OSError, zlib.error, EOFError) as error:
        raise place.problem(f"has a body that is no {encoding}: {error}") from error
    return body


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _day(entry: Place, headers: dict[str, str]) -> str:
    recorded = entry.get("recorded_at")
    if recorded is not None and (found := _DATE.match(str(recorded.value))):
        return found[0]
    try:
        return parsedate_to_datetime(headers.get("date", "")).date().isoformat()
    except (TypeError, ValueError):
        return ""


def _day_of_turnproof(data: Any) -> str:
    metadata = data.get("metadata")
    own = metadata.get("turnproof") if isinstance(metadata, dict) else None
    return str(own.get("date", "")) if isinstance(own, dict) else ""
