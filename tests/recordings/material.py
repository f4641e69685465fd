"""Recordings as what our code takes: requests, and the bytes of answers.

A recording keeps parsed bodies and few headers. What a recorder filtered out of every request (the key, and often
the API version) is put back; nothing that a request could have said by leaving it out is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from turnproof.dialects.base import HttpRequest


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
        return "sse" in self.source["response"]


@dataclass(frozen=True)
class Recording:
    """One file; `exchanges` are those with the API in question, in recorded order."""

    name: str
    exchanges: tuple[Exchange, ...]


def recordings(folder: Path, api: str = "anthropic") -> Iterator[Recording]:
    """Every recording of an API, the mixed ones included, in a fixed order."""
    for path in sorted([*(folder / api).glob("*.json"), *(folder / "mixed").glob("*.json")]):
        recorded = msgspec.json.decode(path.read_bytes())
        exchanges = tuple(
            _exchange(f"{path.name}#{n}", each)
            for n, each in enumerate(recorded["interactions"])
            if each.get("api", recorded["api"]) == api
        )
        if exchanges:
            yield Recording(path.name, exchanges)


def _exchange(where: str, recorded: Mapping[str, Any]) -> Exchange:
    request, response = recorded["request"], recorded["response"]
    url = urlsplit(request["url"])
    headers = {"x-api-key": "recorded", "anthropic-version": "2023-06-01", **request["headers"]}
    return Exchange(
        where=where,
        request=HttpRequest(
            request["method"], url.path, dict(parse_qsl(url.query)), headers, msgspec.json.encode(request["json"])
        ),
        status=response["status"],
        headers=response["headers"],
        body=_body(response),
        source=recorded,
    )


def _body(response: Mapping[str, Any]) -> bytes:
    if "raw" in response:
        return str(response["raw"]).encode()
    return json.dumps(response["json"], ensure_ascii=False).encode()
