"""A dialect small enough to read in one go, and exchanges in it: cassettes must not depend on any real dialect."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast

from turnproof.dialects.base import Call, HttpRequest, Operation, Refusal, Rule, Service, WireAnswer, WireEvent, World
from turnproof.dialects.contract import Dialect
from turnproof.messages import Text
from turnproof.wire.cassettes import Cassette, Recorder

HOST = "https://api.pocket.example"
UNREADABLE = Rule("pocket/unreadable", note="this file")
OPERATIONS: dict[str, Operation] = {"/v1/say": "generate", "/v1/count": "count_tokens", "/v1/models": "list_models"}


class Pocket:
    """`POST /v1/say {"model", "system", "messages", "stream"}`. Counts what cassettes ask of a dialect."""

    name = "pocket"
    default_host = HOST
    service = Service(
        ("POCKET_API_KEY",),
        "POCKET_BASE_URL",
        request_headers=frozenset({"anthropic-version", "anthropic-beta"}),
        query_parameters=frozenset({"beta", "limit"}),
    )
    models: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self.parsed = 0
        self.formed = 0

    def parse(self, request: HttpRequest, world: World) -> Call | Refusal:
        self.parsed += 1
        operation = OPERATIONS.get(request.path, "other")
        try:
            body = json.loads(request.body) if request.body else {}
        except ValueError:
            return Refusal(UNREADABLE, 400, "invalid", "the body is not JSON")
        return Call(operation, body.get("model"), bool(body.get("stream")), body=body)

    def match_form(self, call: Call) -> Any:
        self.formed += 1
        return {key: call.body.get(key) for key in ("model", "system", "messages")}

    def read_response(self, status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
        return WireAnswer(status=status, complete=True, parts=(Text(body.decode()),))

    def split_stream(self, headers: Mapping[str, str], body: bytes) -> tuple[WireEvent, ...]:
        if not headers.get("content-type", "").startswith("text/event-stream"):
            return (WireEvent(body, "body"),)
        return tuple(WireEvent(line, "text") for line in body.splitlines(keepends=True))


def pocket() -> Dialect:
    """A fresh Pocket, as the type that cassettes ask for."""
    return cast("Dialect", Pocket())


def counting() -> tuple[Pocket, Dialect]:
    """The same object twice: once to be counted on, once to be handed in."""
    one = Pocket()
    return one, cast("Dialect", one)


def pocket_request(*messages: str, **more: Any) -> HttpRequest:
    """A request of the pocket API as a client sends it, key and noise included."""
    path = more.pop("path", "/v1/say")
    body = {"model": "pocket-1", "system": "Be brief.", "messages": list(messages), **more}
    headers = {
        "content-type": "application/json",
        "authorization": "Bearer sk-client-1234567890",
        "user-agent": "pocket-sdk/1.0",
        "cookie": "session=abc",
    }
    return HttpRequest("POST", path, {"beta": "true", "key": "sk-query-1234567890"}, headers, json.dumps(body).encode())


def call_of(request: HttpRequest) -> Call:
    """The request read by a Pocket that nobody counts."""
    read = Pocket().parse(request, World(frozenset(), {}, lambda: 0.0))
    assert isinstance(read, Call)
    return read


def recorder(scenario: str = "small-talk", dialect: Dialect | None = None, **more: Any) -> Recorder:
    """A recorder with everything settled."""
    settings: dict[str, Any] = {"adapter": "pocket", "model": "pocket-1", "recorded": "emulated"}
    return Recorder(scenario=scenario, dialect=dialect or pocket(), day=date(2026, 11, 21), **{**settings, **more})


def record(
    into: Recorder,
    request: HttpRequest,
    *chunks: bytes,
    at: tuple[int, int] = (0, 0),
    status: int = 200,
    kind: str = "application/json",
    extra: bool = False,
) -> None:
    """Add one exchange, its answer's headers with the noise that real servers send."""
    headers = {"Content-Type": kind, "Set-Cookie": "id=1", "Request-Id": "req_1", "Retry-After": "4"}
    into.add(
        request,
        call_of(request),
        status=status,
        headers=headers,
        chunks=chunks,
        turn=at[0],
        round_=at[1],
        extra=extra,
    )


def conversation(turns: int, *, filler: str = "") -> Cassette:
    """A cassette of so many different one-request turns of equal size, each answered by its own number."""
    recording = recorder()
    for number in range(turns):
        record(recording, pocket_request(f"{number:06d}{filler}"), b'"%06d"' % number, at=(number, 0))
    return recording.cassette()


def bodies(interactions: Sequence[Any]) -> list[bytes]:
    """The response bodies of some interactions."""
    return [item.response.body for item in interactions]
