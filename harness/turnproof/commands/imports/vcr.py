"""Cassettes of vcrpy, pytest-recording and turnproof itself, as YAML or JSON."""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from ...errors import UsageError
from .exchanges import RecordedExchange
from .typed_values import typed


class _Message(msgspec.Struct, kw_only=True):
    """What requests and answers have alike. `parsed_body` is how pydantic-ai's serialiser keeps a body."""

    headers: dict[str, Any] | None = None
    body: Any = None
    parsed_body: Any = msgspec.UNSET


class _Request(_Message, kw_only=True):
    """A request; its address is `url` in cassettes of other languages."""

    method: str
    uri: str = ""
    url: str = ""


class _Status(msgspec.Struct):
    code: int


class _Response(_Message, kw_only=True):
    status: _Status | int


class _Interaction(msgspec.Struct):
    request: _Request
    response: _Response
    recorded_at: Any = None


class _File(msgspec.Struct):
    interactions: list[_Interaction]
    metadata: Any = None


def is_cassette(data: Any) -> bool:
    """Whether parsed YAML or JSON is a cassette."""
    return isinstance(data, dict) and isinstance(data.get("interactions"), list)


def read_cassette(data: Any, file: str) -> Iterator[RecordedExchange]:
    """The exchanges of a cassette, in its order. Raises UsageError with the path of what is not as vcrpy has it."""
    cassette = typed(data, _File, file)
    for number, entry in enumerate(cassette.interactions):
        where = f"{file}: $.interactions[{number}]"
        request, response = entry.request, entry.response
        if not (request.uri or request.url):
            raise UsageError(f"{where}.request has no 'uri'")
        headers = _headers(response)
        yield RecordedExchange(
            where=where,
            method=request.method.upper(),
            url=request.uri or request.url,
            request_headers=_headers(request),
            request_body=_body(request, f"{where}.request"),
            status=response.status.code if isinstance(response.status, _Status) else response.status,
            response_headers={name: value for name, value in headers.items() if name != "content-encoding"},
            response_body=_unpacked(
                _body(response, f"{where}.response"), headers.get("content-encoding", ""), f"{where}.response"
            ),
            day=_day(cassette.metadata, entry, headers),
        )


def _headers(message: _Message) -> dict[str, str]:
    return {
        name.lower(): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in (message.headers or {}).items()
    }


def _body(message: _Message, where: str) -> bytes:
    if message.parsed_body is not msgspec.UNSET:
        return msgspec.json.encode(message.parsed_body)
    return _bytes(message.body, f"{where}.body")


def _bytes(body: Any, where: str) -> bytes:
    """A body: a text, bytes, or an object with one of them under `string` or `base64_string`."""
    match body:
        case None:
            return b""
        case bytes():
            return body
        case str():
            return body.encode()
        case {"string": inner}:
            return _bytes(inner, f"{where}.string")
        case {"base64_string": str() as packed}:
            return _decoded(packed, f"{where}.base64_string")
        case dict() | list():
            return msgspec.json.encode(body)
        case _:
            raise UsageError(f"{where} should be a body: a text, or an object with 'string'")


def _decoded(packed: str, where: str) -> bytes:
    try:
        return base64.b64decode(packed)  # some recorders break it into lines
    except binascii.Error as error:
        raise UsageError(f"{where} is not base64: {error}") from error


def _unpacked(body: bytes, encoding: str, where: str) -> bytes:
    """The body without its compression. Many recorders unpack it and leave the header as it was."""
    try:
        if encoding == "gzip" and body.startswith(b"\x1f\x8b"):
            return gzip.decompress(body)
        if encoding == "deflate" and body[:1] == b"\x78":
            return zlib.decompress(body)
    except (OSError, zlib.error, EOFError) as error:
        raise UsageError(f"{where}.body is no {encoding}: {error}") from error
    return body


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _day(metadata: Any, entry: _Interaction, headers: Mapping[str, str]) -> str:
    """When an exchange was recorded: what turnproof wrote into its cassette, else the recorder, else the service."""
    match metadata:
        case {"turnproof": {"date": str() as day}}:
            return day
    if found := _DATE.match(str(entry.recorded_at)):
        return found[0]
    try:
        return parsedate_to_datetime(headers.get("date", "")).date().isoformat()
    except (TypeError, ValueError):
        return ""
