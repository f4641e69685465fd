"""The server on its own, through plain sockets: what is on the wire is what a client of any language would see."""

from __future__ import annotations

import http.client
import json
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from turnproof.dialects import dialect
from turnproof.dialects.base import ReplyPart
from turnproof.errors import HarnessError
from turnproof.messages import FinishReason, Text
from turnproof.scenarios.model import Cut, Fault, FaultKind, ScriptRound, Turn
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof.wire.emulator.serve import ServeOptions, serve
from turnproof.wire.emulator.server_run import CANARY_KEY

WIRE = dialect("anthropic-messages")
PIECES = ("Bed 3 ", "is ", "dry – ", "water it 🌱.")
ROUND = ScriptRound((ReplyPart(Text("".join(PIECES)), PIECES),), FinishReason.STOP)
LIMIT = 60.0
"""Seconds after which something that must happen has not happened."""
HEADERS = {"content-type": "application/json", "x-api-key": CANARY_KEY, "anthropic-version": "2023-06-01"}


@pytest.fixture
def run(server: EmulatorServer) -> Iterator[ServerRun]:
    opened = server.open_run(WIRE, ScriptResponder(), seed="front")
    opened.hold_limit, opened.stall_limit = 0.3, 0.3
    yield opened
    server.close_run(opened)


def turn(fault: Fault | None = None, cancel: Cut | None = None) -> Turn:
    return Turn(user=(Text("How is bed 3?"),), rounds=(ROUND,), faults=() if fault is None else (fault,), cancel=cancel)


def request(stream: bool = True, **more: Any) -> bytes:
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 64,
        "stream": stream,
        "messages": [{"role": "user", "content": "How is bed 3?"}],
        **more,
    }
    return json.dumps(body).encode()


def post(run: ServerRun, body: bytes, path: str = "/v1/messages") -> tuple[int, dict[str, str], bytes]:
    host, port = run.base_url.split("/")[2].split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=LIMIT)
    try:
        connection.request("POST", f"/run/{run.id}{path}", body, HEADERS)
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def raw(run: ServerRun, body: bytes, window: int | None = None, idle: float = 0) -> tuple[bytes, str]:
    """Everything that arrives, and how the connection ended: `closed` or `reset`.

    `window` is how much may be on its way, `idle` how many seconds pass before anything is read.
    """
    host, port = run.base_url.split("/")[2].split(":")
    head = f"POST /run/{run.id}/v1/messages HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items()) + "connection: close\r\n\r\n"
    arrived = b""
    with socket.socket() as client:
        client.settimeout(LIMIT)
        if window is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        client.connect((host, int(port)))
        client.sendall(head.encode() + body)
        time.sleep(idle)
        while True:
            try:
                data = client.recv(65536)
            except ConnectionResetError:
                return arrived, "reset"
            if not data:
                return arrived, "closed"
            arrived += data


def test_an_answer_in_one_piece_has_the_scripted_text(run: ServerRun) -> None:
    run.arm(0, turn())
    status, _, body = post(run, request(stream=False))
    assert status == 200
    assert json.loads(body)["content"][0]["text"] == "".join(PIECES)


def test_a_round_that_is_asked_for_without_end_is_answered_with_a_notice(server: EmulatorServer) -> None:
    """A session that drops the running turn asks for the same round for ever, with equal requests or with others."""
    run = server.open_run(WIRE, ScriptResponder(round_limit=3), seed="front")
    try:
        run.arm(0, turn())
        answers = [post(run, request(max_tokens=64 + n // 2)) for n in range(5)]
        assert [status for status, _, _ in answers] == [200, 200, 200, 418, 418]
        assert "round 0 was asked for 3 times" in json.loads(answers[-1][2])["error"]["message"]
        assert [one.fault for one in run.exchanges] == [None, None, None, "circle", "circle"]
        run.arm(1, turn())
        assert post(run, request())[0] == 200
    finally:
        server.close_run(run)


def test_an_identical_request_gets_the_identical_reply(run: ServerRun) -> None:
    run.arm(0, turn())
    assert post(run, request())[2] == post(run, request())[2]


def test_a_wrong_key_is_refused_as_the_api_refuses_it(run: ServerRun) -> None:
    run.arm(0, turn())
    run.world.keys = frozenset({"another"})
    status, _, body = post(run, request())
    assert (status, json.loads(body)["error"]["type"]) == (401, "authentication_error")


def test_a_run_that_does_not_exist_is_404(server: EmulatorServer, run: ServerRun) -> None:
    server.close_run(run)
    assert post(run, request())[0] == 404


def test_counting_tokens_needs_no_script_and_is_recorded_as_extra(run: ServerRun) -> None:
    run.arm(0, turn())
    body = json.dumps({"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "How is bed 3?"}]})
    status, _, answer = post(run, body.encode(), "/v1/messages/count_tokens")
    assert status == 200
    assert json.loads(answer)["input_tokens"] > 0
    assert [exchange.extra for exchange in run.exchanges] == [True]


def test_a_port_that_is_taken_is_a_harness_error_with_its_number(server: EmulatorServer) -> None:
    with pytest.raises(HarnessError, match=str(server.port)):
        EmulatorServer(port=server.port).start()


def test_stopping_twice_is_harmless() -> None:
    server = EmulatorServer().start()
    server.stop()
    server.stop()


@pytest.mark.parametrize("kind", ["truncate", "no-end", "reset", "error-event"])
def test_a_fault_behind_the_head_leaves_nothing_of_the_answer(server: EmulatorServer, kind: FaultKind) -> None:
    """Where an API begins without an event of its own, its start is when the head is out."""
    run = server.open_run(dialect("gemini"), ScriptResponder(), seed="front")
    run.arm(0, turn(Fault(kind, after="start:1", status=529)))
    host, port = server.url.removeprefix("http://").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=LIMIT)
    body = json.dumps({"contents": [{"role": "user", "parts": [{"text": "How is bed 3?"}]}]})
    path = f"/run/{run.id}/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse"
    connection.request("POST", path, body, {"x-goog-api-key": CANARY_KEY})
    try:
        arrived = connection.getresponse().read()
    except (http.client.HTTPException, ConnectionError) as error:
        arrived = getattr(error, "partial", b"")
    finally:
        connection.close()
        server.close_run(run)
    assert b"Bed 3" not in arrived
    assert run.exchanges[0].done.wait(LIMIT)
    assert (run.exchanges[0].status, run.exchanges[0].ended) == (200, "cut-by-us")


@pytest.mark.parametrize(
    ("kind", "index", "after", "end", "ended"),
    [
        pytest.param("reset", -1, None, "reset", "cut-by-us", id="before the headers"),
        pytest.param("refuse-connection", -1, None, "reset", "cut-by-us", id="at once"),
        pytest.param("reset", 0, "text:2", "reset", "cut-by-us", id="in mid-stream"),
        pytest.param("truncate", 0, "text:2", "closed", "cut-by-us", id="inside an event"),
        pytest.param("no-end", -1, None, "closed", "cut-by-us", id="before the end marker"),
        pytest.param("no-end", 0, "text:2", "closed", "cut-by-us", id="in mid-stream, without a sign"),
        pytest.param("error-event", 0, "text:2", "closed", "cut-by-us", id="with an error event"),
        pytest.param("split", 0, None, "closed", "completed", id="not at all, in awkward pieces"),
        pytest.param("drip", 0, None, "closed", "completed", id="not at all, byte by byte"),
        pytest.param("comment", 0, None, "closed", "completed", id="not at all, with keep-alives"),
    ],
)
def test_a_fault_ends_the_connection(
    run: ServerRun, kind: FaultKind, index: int, after: str | None, end: str, ended: str
) -> None:
    run.arm(0, turn(Fault(kind, index=index, after=after, status=529)))
    arrived, how = raw(run, request())
    assert how == end
    assert run.exchanges[0].done.wait(LIMIT)
    assert run.exchanges[0].ended == ended
    content = re.sub(rb"\r\n[0-9a-f]+\r\n", b"", arrived)  # without the frames of the chunked encoding
    whole = b"message_stop" in content
    assert whole == (ended == "completed")
    assert (b"overloaded_error" in content) == (kind == "error-event")


def test_a_reset_takes_nothing_away_from_a_client_that_reads_slowly(run: ServerRun) -> None:
    """What was written before it has reached the client's machine, however small the window is."""
    pieces = [f"{n} ".rjust(2_000, ".") for n in range(40)]
    answer = ScriptRound((ReplyPart(Text("".join(pieces)), tuple(pieces)),), FinishReason.STOP)
    reset = Fault("reset", index=0, after="text:40")
    run.arm(0, Turn(user=(Text("How is bed 3?"),), rounds=(answer,), faults=(reset,)))
    arrived, how = raw(run, request(), window=4_096, idle=0.02)
    assert how == "reset"
    assert [n for n in range(40) if f"..{n} ".encode() not in arrived] == []


def test_a_stalled_answer_is_given_up_after_the_limit(run: ServerRun) -> None:
    run.arm(0, turn(Fault("stall", after="text:1")))
    raw(run, request())
    assert run.exchanges[0].done.wait(LIMIT)
    assert run.exchanges[0].ended == "timed-out"


def test_a_fault_lasts_for_its_attempts_and_the_next_one_gets_the_answer(run: ServerRun) -> None:
    run.arm(0, turn(Fault("status", status=429, retry_after=7, times=2)))
    answers = [post(run, request()) for _ in range(3)]
    assert [status for status, _, _ in answers] == [429, 429, 200]
    assert answers[0][1]["retry-after"] == "7"


def test_a_wait_given_as_a_date_counts_from_the_answers_own_date(run: ServerRun) -> None:
    run.arm(0, turn(Fault("status", status=429, retry_after=7, retry_after_as="date")))
    _, headers, _ = post(run, request())
    then, now = (parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
    assert (then - now).total_seconds() == 7


def test_a_stream_is_held_until_the_client_has_closed(run: ServerRun) -> None:
    run.hold_limit = LIMIT
    run.arm(0, turn(cancel=Cut("event", after="text:2")))
    host, port = run.base_url.split("/")[2].split(":")
    hold_reached = threading.Event()
    arrived = []
    run.on_hold = lambda at: (arrived.append(at), hold_reached.set())  # type: ignore[assignment, func-returns-value]
    body = request()
    with socket.create_connection((host, int(port)), timeout=LIMIT) as client:
        head = f"POST /run/{run.id}/v1/messages HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n"
        client.sendall((head + "".join(f"{n}: {v}\r\n" for n, v in HEADERS.items()) + "\r\n").encode() + body)
        assert hold_reached.wait(LIMIT)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert run.exchanges[0].done.wait(LIMIT)
    assert arrived[0].text == len(PIECES[0] + PIECES[1])
    assert (run.exchanges[0].released, run.exchanges[0].ended) == ("peer-closed", "cut-by-peer")
    assert run.exchanges[0].events_after_cancel == 0


def test_a_client_that_stays_gets_the_rest_after_the_limit_and_is_noted(run: ServerRun) -> None:
    run.arm(0, turn(cancel=Cut("event", after="text:2")))
    arrived, _ = raw(run, request())
    assert b"message_stop" in arrived
    assert run.exchanges[0].done.wait(LIMIT)
    assert run.exchanges[0].released == "limit"
    assert run.exchanges[0].events_after_cancel > 0


def test_serve_prints_its_url_logs_what_comes_in_and_stops_cleanly() -> None:
    urls: list[str] = []
    lines: list[str] = []
    stop = threading.Event()
    ready = threading.Event()

    def out(url: str) -> None:
        urls.append(url)
        ready.set()

    served = threading.Thread(target=serve, args=(ServeOptions(), out, lines.append, stop))
    served.start()
    try:
        assert ready.wait(LIMIT)
        host, port = urls[0].split("/")[2].split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=LIMIT)
        connection.request("POST", "/v1/messages", request(stream=False), {**HEADERS, "x-api-key": "any"})
        answer = json.loads(connection.getresponse().read())
        connection.request("POST", "/v1/messages", request(messages=[]), {**HEADERS, "x-api-key": "any"})
        assert connection.getresponse().status == 400
        connection.close()
    finally:
        stop.set()
        served.join(LIMIT)
    assert not served.is_alive()
    assert answer["content"][0]["text"] == "You said: How is bed 3?"
    assert "claude-sonnet-4-5" in lines[0]
    assert "refused: messages: at least one message is required" in lines[1]
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((host, int(port)), timeout=1)
