"""A service that people develop against runs for days, and what it remembers does not grow."""

from __future__ import annotations

import gc
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from turnproof.wire.emulator import serve as served
from turnproof.wire.emulator.http_server import EmulatorServer
from turnproof.wire.emulator.serve import ServeOptions, serve
from turnproof.wire.emulator.server_run import ServerRun

HEADERS = {"content-type": "application/json", "authorization": "Bearer some-key"}

Send = Callable[[str, str], dict[str, Any]]


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[ServerRun, EmulatorServer, Send]]:
    """A server of the Responses API with a small window; `send` asks it by a connection of its own."""
    monkeypatch.setattr(served, "KEPT_EXCHANGES", 5)
    monkeypatch.setattr(served, "KEPT_NAMES", 12)
    found: list[tuple[ServerRun, EmulatorServer]] = []
    real = EmulatorServer.open_run

    def open_run(server: EmulatorServer, *args: Any, **options: Any) -> ServerRun:
        run = real(server, *args, **options)
        found.append((run, server))
        return run

    monkeypatch.setattr(EmulatorServer, "open_run", open_run)
    ready, stop = threading.Event(), threading.Event()
    options = ServeOptions("openai-responses")
    thread = threading.Thread(target=serve, args=(options, lambda url: ready.set(), lambda line: None, stop))
    thread.start()
    try:
        assert ready.wait(10)
        run, server = found[0]

        def send(path: str, text: str) -> dict[str, Any]:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            connection.request("POST", path, json.dumps({"model": "gpt-5", "input": text}), HEADERS)
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
            connection.close()
            return answer

        yield run, server, send
    finally:
        stop.set()
        thread.join(timeout=10)


def test_exchanges_connections_and_stored_answers_are_remembered_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(monkeypatch) as (run, _, send):
        ids = [send("/v1/responses", f"question {number}")["id"] for number in range(40)]
        gc.collect()
        assert len(run.exchanges) <= 6
        assert len(run.transports) <= 6
        assert len(run.world.owned) <= 16
        assert len(run.world.resources) <= 20
        assert ids[-1] in run.world.resources
        assert ids[0] not in run.world.resources


def test_a_connection_keeps_its_number_and_no_other_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(monkeypatch) as (run, _, send):
        for number in range(7):
            send("/v1/responses", f"question {number}")
            gc.collect()
        numbers = [exchange.connection for exchange in run.exchanges]
        assert numbers == sorted({number for number in numbers if number is not None})
        assert numbers[-1] == 6


def test_requests_to_other_addresses_are_noted_only_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turnproof.wire.emulator.http_server.MOST_STRAYS", 3)
    with serving(monkeypatch) as (_, server, send):
        for number in range(5):
            assert "error" in send(f"/run/other{number}/v1/responses", "hi")
        assert len(server.strays) == 3
