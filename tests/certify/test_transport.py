"""The emulator without a socket shows a client what the emulator on a socket shows it, as far as it promises to."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpx
import httpx2
import pytest

from turnproof.certify.fixtures import ScriptedEndpoint, endpoints, transports
from turnproof.dialects.base import ReplyPart
from turnproof.errors import UsageError
from turnproof.messages import FinishReason, Text
from turnproof.scenarios import Scenario
from turnproof.scenarios.model import Cut, CutPoint, Fault, ScriptRound, Turn

OpenEndpoint: TypeAlias = Callable[..., ScriptedEndpoint]

DIALECT = "openai-chat"
CLIENTS = pytest.mark.parametrize("client", [httpx, httpx2], ids=["httpx", "httpx2"])
REPLY = ScriptRound((ReplyPart(Text("Bed 3 is dry."), ("Bed 3", " is – dry", ".")),), FinishReason.STOP)


def scenario(*faults: Fault, cut: CutPoint | None = None) -> Scenario:
    cancel = Cut(cut) if cut is not None else None
    turn = Turn(user=(Text("How moist is bed 3?"),), rounds=(REPLY,), faults=faults, cancel=cancel)
    return Scenario(name="greenhouse", title="A greenhouse", turns=(turn,))


@dataclass(frozen=True)
class Seen:
    """What a client saw of one request."""

    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    error: str = ""


def request(endpoint: ScriptedEndpoint, *, stream: bool) -> dict[str, Any]:
    """The arguments by which both clients send a request for an answer."""
    body = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": "How moist is bed 3?"}],
        **({"stream": True} if stream else {}),
    }
    headers = {"authorization": f"Bearer {endpoint.api_key}"}
    return {"url": f"{endpoint.base_url}/chat/completions", "headers": headers, "json": body}


def ask(client: Any, endpoint: ScriptedEndpoint, *, stream: bool, timeout: float = 20.0) -> Seen:
    """One request, with everything that arrived until it ended or failed."""
    headers: tuple[tuple[str, str], ...] = ()
    status, body = 0, b""
    try:
        with (
            client.Client(timeout=timeout) as http,
            http.stream("POST", **request(endpoint, stream=stream)) as response,
        ):
            status = response.status_code
            # What HTTP itself adds, and the moment, are the socket's own.
            own = ("transfer-encoding", "date", "server", "retry-after")
            headers = tuple(sorted((name, value) for name, value in response.headers.items() if name not in own))
            for chunk in response.iter_bytes():
                body += chunk
    except client.HTTPError as error:
        return Seen(status, headers, body, type(error).__name__)
    return Seen(status, headers, body)


@pytest.fixture(scope="module")
def on_a_socket() -> Iterator[OpenEndpoint]:
    with endpoints() as opened:
        yield opened


@dataclass(frozen=True)
class Case:
    id: str
    fault: Fault | None = None
    error: str = ""
    stream: bool = True


CASES = (
    Case("whole", stream=False),
    Case("streamed"),
    Case("status", Fault("status", status=429, retry_after=2)),
    Case("status-date", Fault("status", status=503, retry_after=2, retry_after_as="date")),
    Case("error-event", Fault("error-event", index=1, status=500)),
    Case("garbage", Fault("garbage", index=1)),
    Case("no-end", Fault("no-end", index=-1)),
    Case("no-end-early", Fault("no-end", index=1)),
    Case("split", Fault("split")),
    Case("drip", Fault("drip")),
    Case("comment", Fault("comment")),
    Case("respelled", Fault("respelled", spelling="crlf")),
    Case("truncate", Fault("truncate", index=2), "RemoteProtocolError"),
    Case("truncate-whole", Fault("truncate", index=0), "RemoteProtocolError", stream=False),
    Case("reset-first", Fault("reset", index=-1), "ReadError"),
    Case("reset", Fault("reset", index=1), "ReadError"),
    Case("refuse-connection", Fault("refuse-connection", index=-1), "ReadError"),
    Case("stall-first", Fault("stall", index=-1), "ReadTimeout"),
    Case("stall", Fault("stall", index=1), "ReadTimeout"),
)


@CLIENTS
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_client_sees_what_it_sees_on_a_socket(client: Any, case: Case, on_a_socket: OpenEndpoint) -> None:
    script = scenario(*([case.fault] if case.fault is not None else []))
    socket_endpoint = on_a_socket(script, DIALECT)
    timeout = 0.3 if case.error == "ReadTimeout" else 20.0
    expected = ask(client, socket_endpoint, stream=case.stream, timeout=timeout)
    with transports() as opened:
        endpoint = opened(script, DIALECT)
        actual = ask(client, endpoint, stream=case.stream, timeout=timeout)
    assert expected.error == case.error
    assert actual == expected
    [there], [here] = socket_endpoint.exchanges, endpoint.exchanges
    assert there.done.wait(5)
    assert (here.ended, here.fault, here.status, here.spelling) == (
        there.ended,
        there.fault,
        there.status,
        there.spelling,
    )
    assert (bytes(here.body), bytes(here.sent), here.written) == (bytes(there.body), bytes(there.sent), there.written)


@CLIENTS
def test_no_socket_is_opened(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with transports() as opened:
        assert ask(client, opened(scenario(), DIALECT), stream=True).status == 200


@CLIENTS
def test_an_async_client_streams_event_by_event(client: Any) -> None:
    async def chunks(endpoint: ScriptedEndpoint) -> list[bytes]:
        async with (
            client.AsyncClient() as http,
            http.stream("POST", **request(endpoint, stream=True)) as response,
        ):
            return [chunk async for chunk in response.aiter_raw()]

    with transports() as opened:
        endpoint = opened(scenario(), DIALECT)
        arrived = asyncio.run(chunks(endpoint))
    [exchange] = endpoint.exchanges
    assert len(arrived) == len(exchange.events) > 3
    assert b"".join(arrived) == exchange.sent


@CLIENTS
def test_an_async_client_raises_its_own_error_for_a_reset(client: Any) -> None:
    async def post(endpoint: ScriptedEndpoint) -> None:
        async with client.AsyncClient() as http:
            await http.post(**request(endpoint, stream=True))

    with transports() as opened, pytest.raises(client.ReadError):
        asyncio.run(post(opened(scenario(Fault("reset", index=1)), DIALECT)))


@CLIENTS
def test_an_answer_that_is_closed_early_was_cut_by_the_client(client: Any) -> None:
    with transports() as opened:
        endpoint = opened(scenario(), DIALECT)
        with (
            client.Client() as http,
            http.stream("POST", **request(endpoint, stream=True)) as response,
        ):
            next(response.iter_raw())
    [exchange] = endpoint.exchanges
    assert exchange.ended == "cut-by-peer"
    assert exchange.written < len(exchange.events)


def test_a_request_that_the_api_refuses_is_refused_with_the_rule() -> None:
    with transports() as opened:
        endpoint = opened(scenario(), DIALECT)
        answer = httpx.post(f"{endpoint.base_url}/chat/completions", json={})
    assert answer.status_code == 401
    assert [finding.status for finding in endpoint.exchanges[0].findings] == [401]


def test_other_hosts_are_out_of_reach() -> None:
    with transports(), pytest.raises(AssertionError, match="not mocked"):
        httpx.get("http://example.invalid/")


def test_two_endpoints_stand_side_by_side() -> None:
    with transports() as opened:
        first, second = opened(scenario(), DIALECT), opened(scenario(Fault("status", status=500)), DIALECT)
        assert ask(httpx, first, stream=False).status == 200
        assert ask(httpx, second, stream=False).status == 500
    assert len(first.requests) == len(second.requests) == 1


@pytest.mark.parametrize("cut", ["event", "batch"])
def test_a_cancel_in_mid_answer_is_refused_with_what_to_use_instead(cut: CutPoint) -> None:
    with transports() as opened, pytest.raises(UsageError, match=r"greenhouse, turn 0.*`turnproof_endpoint`"):
        opened(scenario(cut=cut), DIALECT)


def test_what_is_missing_is_an_error_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "turnproof.certify.transport", None)
    with pytest.raises(UsageError, match=r"pip install 'turnproof\[transport\]'"), transports():
        pass
