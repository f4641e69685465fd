"""Recordings as what our code takes: requests, and the bytes of answers.

A recording keeps parsed bodies and few headers. What a recorder filtered out of every request (the key, and often
the API version) is put back; nothing that a request could have said by leaving it out is added.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, urlsplit

import msgspec

from turnproof.dialects.base import HttpRequest

_PLACE = (b"<GOOGLE_CLOUD_LOCATION>", b"LOCATION")
"""One place under two names: the publisher masked it one way in bodies and another way in URLs."""

KeptOut: TypeAlias = Callable[[str], Mapping[str, str]]


@dataclass(frozen=True)
class Exchange:
    """One recorded request and its answer. `where` names it in a report."""

    where: str
    request: HttpRequest
    status: int
    headers: Mapping[str, str]
    body: bytes
    source: Mapping[str, Any]

    @property
    def streamed(self) -> bool:
        """Whether the answer came in chunks: as events, or as the elements of one JSON array."""
        return "sse" in self.source["response"] or isinstance(self.source["response"].get("json"), list)

    @property
    def chunks(self) -> list[Any]:
        """The data of a streamed answer's chunks, as recorded."""
        response = self.source["response"]
        return [each["data"] for each in response["sse"]] if "sse" in response else list(response["json"])


@dataclass(frozen=True)
class Recording:
    """One file; `exchanges` are those with the API in question, in recorded order."""

    name: str
    exchanges: tuple[Exchange, ...]


def recordings(folder: Path, api: str, kept_out: KeptOut) -> Iterator[Recording]:
    """Every recording of an API, the mixed ones included, in a fixed order.

    `kept_out` gives, by host, the headers that recorders filter out of every request.
    """
    for path in sorted([*(folder / api).glob("*.json"), *(folder / "mixed").glob("*.json")]):
        recorded = msgspec.json.decode(path.read_bytes().replace(*_PLACE))
        exchanges = tuple(
            _exchange(f"{path.name}#{n}", each, kept_out)
            for n, each in enumerate(recorded["interactions"])
            if each.get("api", recorded["api"]) == api
        )
        if exchanges:
            yield Recording(path.name, exchanges)


def _exchange(where: str, recorded: Mapping[str, Any], kept_out: KeptOut) -> Exchange:
    request, response = recorded["request"], recorded["response"]
    url = urlsplit(request["url"])
    headers = {**kept_out(url.netloc), **request["headers"]}
    body = msgspec.json.encode(request["json"]) if "json" in request else b""
    return Exchange(
        where=where,
        request=HttpRequest(request["method"], url.path, dict(parse_qsl(url.query)), headers, body),
        status=response["status"],
        headers=response["headers"],
        body=_body(response),
        source=recorded,
    )


def _body(response: Mapping[str, Any]) -> bytes:
    if "raw" in response:
        return str(response["raw"]).encode()
    if "sse" in response:
        return b"".join(map(_event, response["sse"]))
    if "ndjson" in response:
        return b"".join(msgspec.json.encode(line) + b"\n" for line in response["ndjson"])
    return json.dumps(response["json"], ensure_ascii=False).encode()


def _event(event: Mapping[str, Any]) -> bytes:
    """An event with compact JSON, and its name if it has one: what was spaced in another way is kept as raw text."""
    data = event["data"]
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    named = f"event: {event['event']}\n" if "event" in event else ""
    return f"{named}data: {text}\n\n".encode()


def har_files(folder: Path, api: str, out: Path) -> list[Path]:
    """The recordings of an API as HAR files in the folder `out`."""
    out.mkdir(parents=True)
    files = []
    for path in sorted((folder / api).glob("*.json")):
        recorded = msgspec.json.decode(path.read_bytes())
        entries = [_har_entry(each) for each in recorded["interactions"]]
        file = out / f"{path.stem}.har"
        file.write_bytes(msgspec.json.encode({"log": {"version": "1.2", "entries": entries}}))
        files.append(file)
    return files


def _har_entry(recorded: Mapping[str, Any]) -> dict[str, Any]:
    request, response = recorded["request"], recorded["response"]
    body = msgspec.json.encode(request["json"]).decode() if "json" in request else request.get("text", "")
    known = {"raw", "sse", "ndjson", "json"} & response.keys()
    return {
        "request": {
            "method": request["method"],
            "url": request["url"],
            "headers": _har_headers(request["headers"]),
            "postData": {"text": body},
        },
        "response": {
            "status": response["status"],
            "headers": _har_headers(response["headers"]),
            "content": {"text": _body(response).decode() if known else response.get("text", "")},
        },
    }


def _har_headers(headers: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]
