"""HAR files, as browsers, proxies (mitmproxy, Charles) and HTTP clients write them (HAR 1.2)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

import msgspec

from ...errors import UsageError
from .exchanges import RecordedExchange
from .typed_values import typed


class _Header(msgspec.Struct):
    name: str
    value: str


class _Content(msgspec.Struct):
    text: str | None = None
    encoding: str | None = None


class _Request(msgspec.Struct, rename="camel"):
    method: str
    url: str
    headers: list[_Header] = []
    post_data: _Content | None = None


class _Response(msgspec.Struct):
    status: int
    content: _Content
    headers: list[_Header] = []


class _Entry(msgspec.Struct):
    request: _Request
    response: _Response
    started: str = msgspec.field(name="startedDateTime", default="")


class _Log(msgspec.Struct):
    entries: list[_Entry]


class _File(msgspec.Struct):
    log: _Log


def is_har(data: Any) -> bool:
    """Whether parsed JSON is a HAR file."""
    return isinstance(data, dict) and isinstance(data.get("log"), dict) and "entries" in data["log"]


def read_har(data: Any, file: str) -> Iterator[RecordedExchange]:
    """The exchanges of a HAR file, in its order. Raises UsageError with the path of what is not as HAR has it."""
    for number, entry in enumerate(typed(data, _File, file).log.entries):
        where = f"{file}: $.log.entries[{number}]"
        request, response = entry.request, entry.response
        yield RecordedExchange(
            where=where,
            method=request.method,
            url=request.url,
            request_headers=_headers(request.headers),
            request_body=_body(request.post_data, f"{where}.request.postData"),
            status=response.status,
            response_headers=_headers(response.headers),
            response_body=_body(response.content, f"{where}.response.content"),
            day=entry.started[:10],
        )


def _headers(headers: list[_Header]) -> dict[str, str]:
    return {header.name.lower(): header.value for header in headers}


def _body(content: _Content | None, where: str) -> bytes:
    text = (content.text if content is not None else None) or ""
    if content is None or content.encoding != "base64":
        return text.encode()
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise UsageError(f"{where}.text is not base64: {error}") from error
