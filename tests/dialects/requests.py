"""Requests as tables write them: a body, and what a client of the API always sends with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import msgspec

from turnproof.dialects.base import Call, HttpRequest, World
from turnproof.dialects.contract import Dialect

Json = dict[str, Any]


class Sendable(Protocol):
    """A request that can be written as it arrives."""

    def request(self) -> HttpRequest: ...


@dataclass(frozen=True)
class Ask:
    """One request. `headers` override the usual ones; None takes one away. `raw` replaces the encoded body."""

    BODILESS: ClassVar[Sequence[str]] = ("GET",)

    body: Json = field(default_factory=dict)
    path: str = ""
    method: str = "POST"
    headers: Mapping[str, str | None] = field(default_factory=dict)
    query: Mapping[str, str] | None = None
    raw: bytes | None = None

    @property
    def address(self) -> str:
        return self.path

    @property
    def usual_headers(self) -> Mapping[str, str]:
        """What a client of this API always sends."""
        return {}

    @property
    def usual_query(self) -> Mapping[str, str]:
        """The query of a request that names none."""
        return {}

    def request(self, encode: Callable[[Json], bytes] = msgspec.json.encode) -> HttpRequest:
        """The request as it arrives."""
        usual = {**self.usual_headers, "content-type": "application/json"}
        headers = {name: value for name, value in (usual | dict(self.headers)).items() if value is not None}
        body = self.raw if self.raw is not None else b"" if self.method in self.BODILESS else encode(self.body)
        query = self.usual_query if self.query is None else self.query
        return HttpRequest(self.method, self.address, dict(query), headers, body)


def read_call(dialect: Dialect, sendable: Sendable, world: World) -> Call:
    """The call that a dialect reads in a request. Fails where it refuses to read it."""
    found = dialect.parse(sendable.request(), world)
    assert isinstance(found, Call), found
    return found
