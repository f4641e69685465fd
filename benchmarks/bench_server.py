"""How many requests a second the server answers: from a script (parsed, validated, accounted, rendered) and in replay.

    python benchmarks/bench_server.py [--requests 2000] [--rounds 5] [--json]

One keep-alive client in a process of its own, which does nothing but send the same bytes and read the answer. Both
backends answer the same small batch request, round by round in turn. Wall time: a rate is what a user waits for.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import socket
import statistics
import time
from datetime import date

from turnproof.cassettes import Player, Recorder
from turnproof.dialects import dialect
from turnproof.dialects.base import ReplyPart
from turnproof.emulator import CassetteResponder, EmulatorServer, ScriptResponder, ServerRun
from turnproof.emulator.run import CANARY_KEY
from turnproof.messages import FinishReason, Text
from turnproof.scenarios.model import ScriptRound, Turn

WIRE = dialect("anthropic-messages")
TURN = Turn(
    user=(Text("How is bed 3?"),),
    rounds=(ScriptRound((ReplyPart(Text("Bed 3 is dry.")),), FinishReason.STOP),),
)
BODY = json.dumps(
    {"model": "claude-sonnet-4-5", "max_tokens": 64, "messages": [{"role": "user", "content": "How is bed 3?"}]}
).encode()


def client(port: int, run: str, count: int) -> float:
    """Send `count` requests one after the other; seconds it took."""
    head = (
        f"POST /run/{run}/v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"anthropic-version: 2023-06-01\r\nx-api-key: {CANARY_KEY}\r\ncontent-length: {len(BODY)}\r\n\r\n"
    ).encode() + BODY
    with socket.create_connection(("127.0.0.1", port)) as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        start = time.perf_counter()
        for _ in range(count):
            line.sendall(head)
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


def recorded(server: EmulatorServer, run: ServerRun) -> Player:
    """A player of the one exchange that a first request made."""
    client(server.port, run.id, 1)
    exchange = run.exchanges[0]
    recorder = Recorder(
        adapter="bench", scenario="bench", dialect=WIRE, model="m", recorded="emulated", day=date(2026, 1, 1)
    )
    assert exchange.call is not None
    recorder.add(
        exchange.request,
        exchange.call,
        status=exchange.answered,
        headers=exchange.headers,
        chunks=[event.data for event in exchange.events],
        turn=0,
        round_=0,
    )
    return Player(recorder.cassette(), WIRE)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    rates: dict[str, list[float]] = {"emulate": [], "replay": []}
    with EmulatorServer() as server, multiprocessing.get_context("spawn").Pool(1) as pool:
        emulated = server.open_run(WIRE, ScriptResponder())
        emulated.arm(0, TURN)
        replayed = server.open_run(WIRE, CassetteResponder(recorded(server, emulated)))
        replayed.arm(0, TURN)
        runs = {"emulate": emulated, "replay": replayed}
        for run in runs.values():
            pool.apply(client, (server.port, run.id, 100))
        for _ in range(asked.rounds):
            for name, run in runs.items():
                rates[name].append(asked.requests / pool.apply(client, (server.port, run.id, asked.requests)))
    found = {name: statistics.median(values) for name, values in rates.items()}
    if asked.json:
        print(json.dumps({"schema": "turnproof.bench-server/1", "requests_per_second": found}))
    else:
        for name, values in rates.items():
            print(f"{name:<8} {found[name]:>7.0f} requests/s  [{min(values):.0f}–{max(values):.0f}]")


if __name__ == "__main__":
    main()
