"""Who answers over HTTP in tests of dialects: always the same words, or what a test scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import httpx2
import pytest

from turnproof.dialects.base import Call, HttpRequest, PromptUsage, Refusal, Rendered, Reply, WireAnswer, World
from turnproof.dialects.contract import Dialect
from turnproof.messages import Text
from turnproof.scenarios.model import Fault, Turn
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun

from .answers import reply
from .requests import Sendable


class FixedAnswer:
    """Answers whatever was accepted with "Yes."."""

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        models = run.world.models
        if call.operation != "generate":
            facts = models.get(call.model or "") or next(iter(models.values()))
            return run.dialect.render_extra(call, run.cache.account(call, facts, 0.0)[0], run.world, "s")
        usage, commit = run.cache.account(call, models[call.model or ""], 0.0)
        commit()
        return run.dialect.render(call, reply(Text("Yes.")), usage, run.world, f"s{exchange.number}")


class ScriptedAnswer:
    """Answers every request with the reply that is set, or refuses it."""

    def __init__(self) -> None:
        self.reply: Reply | Refusal = reply()

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        if isinstance(self.reply, Refusal):
            return run.dialect.render_refusal(self.reply, "s")
        usage = PromptUsage(31, cache_read=5)
        if call.operation != "generate":
            return run.dialect.render_extra(call, usage, run.world, "s")
        return run.dialect.render(call, self.reply, usage, run.world, f"s{exchange.number}")


class ScriptedService:
    """A running service that takes any key, and what it answers."""

    def __init__(self, server: EmulatorServer, dialect: Dialect) -> None:
        self.responder = ScriptedAnswer()
        self.run = server.open_run(dialect, self.responder, any_key=True)

    def fault(self, *faults: Fault) -> None:
        """Let the next answer go wrong."""
        self.run.arm(0, Turn(user=(), rounds=(), faults=faults))

    def renew(self) -> Self:
        """The service with nothing that goes wrong, and nothing issued or stored."""
        self.fault()
        self.run.world.issued.clear()
        self.run.world.resources.clear()
        return self

    def answer(self) -> WireAnswer:
        """What went out last, as our reader sees it."""
        last = self.run.exchanges[-1]
        # The client may have read the last byte before the server has written it down.
        assert last.done.wait(60)
        return self.run.dialect.read_response(last.status, last.headers, bytes(last.body))


def service_fixtures(kind: Callable[[EmulatorServer], ScriptedService]) -> tuple[Any, Any]:
    """The fixtures `running` and `service`: a service of this kind for a module, and the same for one test, in which
    nothing goes wrong, is issued or is stored yet."""

    @pytest.fixture(scope="module")
    def running(server: EmulatorServer) -> ScriptedService:
        return kind(server)

    @pytest.fixture
    def service(running: ScriptedService) -> ScriptedService:
        return running.renew()

    return running, service


def send_request(client: httpx2.Client, run: ServerRun, request: HttpRequest) -> httpx2.Response:
    """The answer to a request, whose path has what the base URL of an SDK has behind the host."""
    host = run.base_url.removesuffix(run.dialect.service.base_path)
    return client.request(
        request.method,
        f"{host}{request.path}",
        params=dict(request.query),
        headers=dict(request.headers),
        content=request.body,
    )


def open_run_in(world: World, server: EmulatorServer, dialect: Dialect) -> ServerRun:
    """A run that knows what this world has issued and stored, and answers "Yes."."""
    run = server.open_run(dialect, FixedAnswer(), keys=world.keys)
    run.world.issued.update(world.issued)
    run.world.resources.update(world.resources)
    run.world.owned.update(world.owned)
    run.world.unreachable_urls = world.unreachable_urls
    return run


@dataclass(frozen=True)
class HttpService:
    """A server that knows the world of a test, and a client of it without any SDK."""

    http: httpx2.Client
    run: ServerRun

    def send(self, sendable: Sendable) -> httpx2.Response:
        return send_request(self.http, self.run, sendable.request())


@contextmanager
def http_service(world: World, dialect: Dialect) -> Iterator[HttpService]:
    """A service in this world, on a server of its own."""
    with EmulatorServer() as server, httpx2.Client(timeout=60) as http:
        yield HttpService(http, open_run_in(world, server, dialect))
