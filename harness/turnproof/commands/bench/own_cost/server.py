"""How long a request to the server takes: answered by the emulator (parsed, validated, accounted, rendered), and in
replay. One keep-alive client in a process of its own sends the same bytes; wall time is what a user waits for.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import date

from ....dialects import dialect
from ....dialects.base import ReplyPart
from ....messages import FinishReason, Text
from ....scenarios.model import ScriptRound, Turn
from ....wire.cassettes import Player, Recorder
from ....wire.emulator import CassetteResponder, EmulatorServer, ScriptResponder, ServerRun
from ....wire.emulator.server_run import CANARY_KEY
from ...certify.record import add_exchange
from .parts import Compared, Key

_REQUESTS = 1000
_WIRE = dialect("anthropic-messages")
_TURN = Turn(
    user=(Text("How is bed 3?"),),
    rounds=(ScriptRound((ReplyPart(Text("Bed 3 is dry.")),), FinishReason.STOP),),
)
_BODY = json.dumps(
    {"model": "claude-sonnet-4-6", "max_tokens": 64, "messages": [{"role": "user", "content": "How is bed 3?"}]}
).encode()


class Server:
    """`request` of the emulator and of a replay."""

    unit = "µs"
    ratios: Sequence[Compared] = (("replayed request", ("request", "replay"), ("request", "emulator")),)

    def __init__(self, requests: int = _REQUESTS) -> None:
        self._requests = requests

    def __enter__(self) -> Server:
        with ExitStack() as stack:
            self._server = stack.enter_context(EmulatorServer())
            self._pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(1))
            emulated = self._server.open_run(_WIRE, ScriptResponder())
            emulated.arm(0, _TURN)
            replayed = self._server.open_run(_WIRE, CassetteResponder(_recorded(self._server, emulated)))
            replayed.arm(0, _TURN)
            self._runs = {"emulator": emulated, "replay": replayed}
            for run in self._runs.values():
                self._pool.apply(_client, (self._server.port, run.id, 10))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def round(self) -> Mapping[Key, float]:
        """Microseconds of each."""
        return {
            ("request", name): self._pool.apply(_client, (self._server.port, run.id, self._requests))
            / self._requests
            * 1e6
            for name, run in self._runs.items()
        }


def _client(port: int, run: str, count: int) -> float:
    """Send `count` requests one after the other; seconds it took."""
    request = (
        f"POST /run/{run}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"anthropic-version: 2023-06-01\r\nx-api-key: {CANARY_KEY}\r\ncontent-length: {len(_BODY)}\r\n\r\n"
    ).encode() + _BODY
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.perf_counter()
        for _ in range(count):
            line.sendall(request)
            _read_answer(line)
        return time.perf_counter() - start


def _read_answer(line: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += line.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    assert b" 200 " in head, data
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    while len(body) < length:
        body += line.recv(65536)


def _recorded(server: EmulatorServer, run: ServerRun) -> Player:
    """A player of the one exchange that a first request made."""
    _client(server.port, run.id, 1)
    exchange = run.exchanges[0]
    recorder = Recorder(
        adapter="bench", scenario="bench", dialect=_WIRE, model="m", recorded="emulated", day=date(2026, 1, 1)
    )
    add_exchange(recorder, exchange)
    return Player(recorder.cassette(), _WIRE)
