"""Sends recorded answers again, over a real socket, to a real client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from turnproof.dialects.base import Call, Rendered
from turnproof.dialects.contract import Dialect
from turnproof.scenarios.model import Fault, Turn
from turnproof.wire.emulator import EmulatorServer, Exchange, ServerRun

from . import material


class Replayer:
    """Answers every request with the recorded answer that is armed, whatever was asked."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.armed: material.Exchange | None = None

    async def answer(self, run: ServerRun, exchange: Exchange, call: Call) -> Rendered:
        assert self.armed is not None
        events = self._dialect.split_stream(self.armed.headers, self.armed.body)
        return Rendered(self.armed.status, {"content-type": "application/json", **self.armed.headers}, events)


@contextmanager
def replaying(dialect: Dialect) -> Iterator[tuple[str, Replayer]]:
    """A running server's base URL, and the replayer to arm.

    Every byte around a line end or a multi-byte character is a write of its own: a client must not depend on where
    the network cuts.
    """
    replayer = Replayer(dialect)
    split = Turn(user=(), rounds=(), faults=(Fault("split", times=1_000_000),))
    with EmulatorServer() as server:
        run = server.open_run(dialect, replayer, any_key=True)
        run.judges = False
        run.arm(0, split)
        yield run.base_url, replayer


@contextmanager
def replaying_to_openai(dialect: Dialect) -> Iterator[tuple[Any, Replayer]]:
    """OpenAI's own client of such a server, and the replayer. Skips where the client is not installed."""
    openai = pytest.importorskip("openai")
    with (
        replaying(dialect) as (base_url, replayer),
        openai.OpenAI(base_url=base_url, api_key="recorded", max_retries=0, http_client=httpx2.Client()) as client,
    ):
        yield client, replayer


def serve_each(
    replayer: Replayer, exchanges: Sequence[material.Exchange], *, at_least: int
) -> Iterator[material.Exchange]:
    """Each exchange, armed as the next answer. There must be `at_least` so many."""
    assert len(exchanges) >= at_least
    for exchange in exchanges:
        replayer.armed = exchange
        yield exchange
