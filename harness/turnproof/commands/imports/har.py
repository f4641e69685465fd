"""HAR files, as browsers, proxies (mitmproxy, Charles) and HTTP clients write them (HAR 1.2)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from .exchanges import RecordedExchange
from .located import Place


def is_har(data: Any) -> bool:
    """Whether parsed JSON is a HAR file."""
    return isinstance(data, dict) and isinstance(data.get("log"), dict) and "entries" in data["log"]


def read_har(data: Any, file: str) -> Iterator[RecordedExchange]:
    """The exchanges of a HAR file, in its order. Raises UsageError with the spot that is not as HAR has it."""
    for entry in Place(data, file).at("log").at("entries").items():
        request, response = entry.at("request"), entry.at("response")
        posted, content = request.get("postData"), response.at("content")
        yield RecordedExchange(
            where=f"{file}: {entry.path}",
            method=request.at("method").text(),
            url=request.at("url").text(),
            request_headers=_headers(request),
            request_body=_body(posted, "text") if posted is not None else b"",
            status=response.at("status").integer(),
            response_headers=_headers(response),
            response_body=_body(content, "text"),
            day=_day(entry),
        )


def _headers(place: Place) -> dict[str, str]:
    listed = place.get("headers")
    pairs = listed.items() if listed is not None else ()
    return {pair.at("name").text().lower(): pair.at("value").text() for pair in pairs}


def _body(place: Place, key: str) -> bytes:
    text = place.get(key)
    if text is None:
        return b""
    encoding = place.get("encoding")
    if encoding is None or encoding.text() != "base64":
        return text.text().encode()
    try:
        return base64.b64decode(text.text(), validate=True)
    except binascii.Error as error:
        raise text.problem(f"is no base64: {error}") from error


def _day(entry: Place) -> str:
    started = entry.get("startedDateTime")
    return started.text()[:10] if started is not None else ""
