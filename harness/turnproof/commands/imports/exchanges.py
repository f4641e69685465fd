"""An exchange with a service as somebody recorded it, whatever wrote the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import parse_qsl, urlsplit

from ...dialects.base import HttpRequest
from ...messages import Message, ToolSchema


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """A request and its answer, bodies not compressed. Header names are lower case; `day` is ISO 8601, empty where the
    file does not tell it. `where` is its place in the file."""

    where: str
    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: bytes
    status: int
    response_headers: Mapping[str, str]
    response_body: bytes
    day: str = ""

    @property
    def host(self) -> str:
        """The host that was asked, with its port where the address has one."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def request(self, more_headers: Mapping[str, str]) -> HttpRequest:
        """The request in the form that a dialect reads. Headers that the recorder left out are put back."""
        url = urlsplit(self.url)
        headers = {**more_headers, **self.request_headers}
        return HttpRequest(self.method, url.path, dict(parse_qsl(url.query)), headers, self.request_body)


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call of a model as a trace has it: the messages, without the bytes of any request or answer."""

    where: str
    system: str
    tools: tuple[ToolSchema, ...]
    messages: tuple[Message, ...]
    answer: Message | None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A call whose messages cannot be read, and why. The rest of its file can."""

    reason: str


Traffic: TypeAlias = RecordedExchange | TracedCall | Unreadable
