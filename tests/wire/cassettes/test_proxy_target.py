"""The way to the real API, against a server on loopback: what crosses, in which pieces, and what never does."""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest
from aiohttp import web

from turnproof.dialects import dialect
from turnproof.dialects.base import HttpRequest
from turnproof.errors import HarnessError, UsageError
from turnproof.wire.cassettes.recording_proxy import ProxyTarget

from .kit import pocket, pocket_request

REAL_KEY = "sk-real-0987654321"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Seen:
    """What the server on the other side received."""

    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    connections: set[object] = field(default_factory=set)


@asynccontextmanager
async def api(handler: Handler) -> AsyncIterator[tuple[ProxyTarget, Seen]]:
    """A server that answers with `handler`, and a target that leads to it."""
    seen = Seen()

    async def remember(request: web.Request) -> web.StreamResponse:
        seen.paths.append(request.path_qs)
        seen.headers.append({name.lower(): value for name, value in request.headers.items()})
        seen.bodies.append(await request.read())
        seen.connections.add(request.transport)
        return await handler(request)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", remember)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        async with ProxyTarget(f"http://{host}:{port}/base/", REAL_KEY, pocket()) as target:
            yield target, seen
    finally:
        await runner.cleanup()


async def hello(request: web.Request) -> web.StreamResponse:
    headers = {"retry-after": "4", "request-id": "req_1", "set-cookie": "id=1", "anthropic-organization-id": "org"}
    return web.json_response({"text": "hello"}, headers=headers)


async def answered(target: ProxyTarget, request: HttpRequest) -> bytes:
    answer = await target.forward(request)
    return b"".join([chunk async for chunk in answer.chunks])


def test_a_request_crosses_by_allow_list_with_the_real_key_in_place_of_its_own() -> None:
    async def run() -> None:
        async with api(hello) as (target, seen):
            request = replace(
                pocket_request("hi"), headers={**pocket_request("hi").headers, "anthropic-version": "2023-06-01"}
            )
            assert await answered(target, request) == b'{"text": "hello"}'
        assert seen.paths == ["/base/v1/say?beta=true"]
        assert seen.bodies == [request.body]
        [headers] = seen.headers
        for name in ("host", "content-length", "user-agent", "accept", "connection"):
            headers.pop(name)
        assert headers == {
            "accept-encoding": "identity",
            "authorization": f"Bearer {REAL_KEY}",
            "anthropic-version": "2023-06-01",
            "content-type": "application/json",
        }

    asyncio.run(run())


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"X-Api-Key": "canary"}, {"x-api-key": REAL_KEY}),
        ({"authorization": "Bearer canary"}, {"authorization": f"Bearer {REAL_KEY}"}),
        ({}, {}),
    ],
    ids=["api key header", "bearer", "none"],
)
def test_the_key_goes_where_the_client_had_put_its_own(sent: dict[str, str], expected: dict[str, str]) -> None:
    async def run() -> None:
        async with api(hello) as (target, seen):
            await answered(target, replace(pocket_request("hi"), headers=sent))
        names = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
        assert {name: seen.headers[0][name] for name in names if name in seen.headers[0]} == expected

    asyncio.run(run())


def test_only_listed_headers_come_back() -> None:
    async def run() -> None:
        async with api(hello) as (target, _):
            answer = await target.forward(pocket_request("hi"))
            assert dict(answer.headers) == {
                "content-type": "application/json; charset=utf-8",
                "retry-after": "4",
                "request-id": "req_1",
            }
            assert [chunk async for chunk in answer.chunks] == [b'{"text": "hello"}']

    asyncio.run(run())


def test_chunks_arrive_while_the_answer_is_still_being_written() -> None:
    """The server writes the second piece only after the first has come out of the proxy: no buffering passes this."""

    async def run() -> None:
        first_seen = asyncio.Event()

        async def slow(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(request)
            await response.write(b"one\n")
            await first_seen.wait()
            await response.write(b"two\n")
            return response

        async with api(slow) as (target, _):
            answer = await target.forward(pocket_request("hi", stream=True))
            chunks = []
            async for chunk in answer.chunks:
                chunks.append(chunk)
                first_seen.set()
        assert chunks == [b"one\n", b"two\n"]

    asyncio.run(run())


def test_an_error_answer_is_an_answer() -> None:
    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.json_response({"type": "error"}, status=429)

    async def run() -> None:
        async with api(refuse) as (target, _):
            answer = await target.forward(pocket_request("hi"))
            assert answer.status == 429
            assert b"".join([chunk async for chunk in answer.chunks]) == b'{"type": "error"}'

    asyncio.run(run())


def test_a_redirect_is_handed_back_and_not_followed_with_the_key() -> None:
    async def elsewhere(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"location": "/other"})

    async def run() -> None:
        async with api(elsewhere) as (target, seen):
            assert (await target.forward(pocket_request("hi"))).status == 307
        assert len(seen.paths) == 1

    asyncio.run(run())


def test_an_answer_that_breaks_off_is_no_complete_exchange() -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-length": "100"})
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.close()
        return response

    async def run() -> None:
        async with api(cut) as (target, _):
            with pytest.raises(HarnessError, match="broke off its answer"):
                await answered(target, pocket_request("hi"))

    asyncio.run(run())


def test_each_request_has_its_own_connection_so_that_none_is_sent_on_a_closed_one() -> None:
    async def run() -> None:
        async with api(hello) as (target, seen):
            for _ in range(3):
                await answered(target, pocket_request("hi"))
        assert len(seen.paths) == 3
        assert len(seen.connections) == 3

    asyncio.run(run())


def test_an_answer_left_half_read_does_not_hold_the_connection() -> None:
    async def run() -> None:
        left = asyncio.Event()

        async def endless(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse()
            await response.prepare(request)
            try:
                while True:
                    await response.write(b"more\n")
                    await asyncio.sleep(0.001)
            except ConnectionError:
                left.set()
                raise

        async with api(endless) as (target, _):
            answer = await target.forward(pocket_request("hi"))
            await anext(answer.chunks)
            await answer.chunks.aclose()
            await asyncio.wait_for(left.wait(), 60)

    asyncio.run(run())


def test_an_api_that_cannot_be_reached_is_our_fault_not_the_adapters() -> None:
    async def run() -> None:
        async with ProxyTarget("http://127.0.0.1:9", REAL_KEY, pocket()) as target:
            with pytest.raises(HarnessError, match=r"http://127\.0\.0\.1:9 cannot be reached") as failure:
                await target.forward(pocket_request("hi"))
            assert REAL_KEY not in str(failure.value)

    asyncio.run(run())


def test_the_key_is_in_no_repr_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> str:
        async with api(hello) as (target, _):
            await answered(target, pocket_request("hi"))
            return repr(target)

    with caplog.at_level(logging.DEBUG):
        shown = asyncio.run(run())
    assert shown.endswith("/base', dialect='pocket')")
    assert REAL_KEY not in shown + caplog.text


@pytest.mark.parametrize(
    ("base_url", "key", "words"),
    [
        ("ftp://api.pocket.example", REAL_KEY, "is not the base URL of an API"),
        ("api.pocket.example", REAL_KEY, "is not the base URL of an API"),
        ("https://api.pocket.example", "", "no key for https://api.pocket.example"),
        ("http://api.pocket.example", REAL_KEY, "would carry the key unencrypted"),
    ],
)
def test_a_target_that_cannot_be_used_is_refused_at_once(base_url: str, key: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        ProxyTarget(base_url, key, pocket())


def test_a_target_is_used_inside_its_context() -> None:
    with pytest.raises(HarnessError, match="outside of its `async with`"):
        asyncio.run(ProxyTarget("http://localhost:9", REAL_KEY, pocket()).forward(pocket_request("hi")))


@pytest.mark.parametrize(
    ("headers", "opened"),
    [
        ({"x-api-key": "tp-canary-of-this-run"}, True),
        ({"authorization": "Bearer tp-canary-of-this-run"}, True),
        ({"Authorization": "Basic " + base64.b64encode(b"user:tp-canary-of-this-run").decode()}, True),
        ({"x-api-key": "sk-of-a-stranger"}, False),
        ({"authorization": "Bearer sk-of-a-stranger"}, False),
        ({"cookie": "tp-canary-of-this-run", "x-api-key": "sk-of-a-stranger"}, False),
        ({"accept": "*/*"}, True),
    ],
)
def test_the_real_key_stands_in_for_the_key_of_the_run_alone(headers: dict[str, str], opened: bool) -> None:
    target = ProxyTarget("https://api.example", "sk-real", dialect("anthropic-messages"))
    request = HttpRequest("POST", "/v1/messages", {}, headers, b"")
    assert target.is_opened_by(request, {"tp-canary-of-this-run"}) is opened
