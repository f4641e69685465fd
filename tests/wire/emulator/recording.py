"""A client that notes every byte of an answer's body, and one request for every form that an API's answers have."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from turnproof.dialects import dialect
from turnproof.dialects.base import HttpRequest, ReplyPart
from turnproof.messages import FinishReason, FunctionCall, Message, Text, ToolSchema
from turnproof.provider import Endpoint
from turnproof.run.bindings import resolve_binding
from turnproof.run.driver.merge_transcript import Gathering
from turnproof.run.transcript import RunEnded, WireResponse
from turnproof.scenarios.model import Cut, Fault, Scenario, ScriptRound, Turn
from turnproof.wire.controls import CONTROLS
from turnproof.wire.emulator import EmulatorServer, ScriptResponder, ServerRun
from turnproof.wire.emulator.server_run import CANARY_KEY

LIMIT = 60.0
"""Seconds after which something that must happen has not happened."""

TOOL = ToolSchema("read", "Read one bed", {"type": "object", "properties": {"bed": {"type": "string"}}})
PIECES = ("Bed 3 ", "is ", "dry – ", "water it 🌱.")
CALL = ReplyPart(FunctionCall("c1", "read", {"bed": "3"}), ('{"bed": ', '"3"}'))
ANSWER = ScriptRound((ReplyPart(Text("".join(PIECES)), PIECES), CALL), FinishReason.TOOL_USE)
QUESTION = "How is bed 3?"


def turn(fault: Fault | None = None, cancel: Cut | None = None, answer: ScriptRound = ANSWER) -> Turn:
    """One question, and what happens to its answer."""
    return Turn(
        user=(Text(QUESTION),), rounds=(answer,), faults=() if fault is None else (fault,), cancel=cancel, tools=(TOOL,)
    )


@dataclass(frozen=True)
class Form:
    """A request of one API, and with it a form of answers."""

    dialect: str
    request: HttpRequest

    def raw(self, run: ServerRun, method: str) -> bytes:
        """The request as it goes out."""
        request = self.request
        query = f"?{urlencode(request.query)}" if request.query else ""
        framing = ("host", "content-length", "connection", "transfer-encoding", "accept-encoding")
        own_headers = {name: value for name, value in request.headers.items() if name not in framing}
        headers = {**own_headers, "host": "localhost", "content-length": str(len(request.body)), "connection": "close"}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{method} /run/{run.id}{request.path}{query} HTTP/1.1\r\n{head}\r\n".encode() + request.body


def _record_request(server: EmulatorServer, name: str, *, streamed: bool) -> HttpRequest:
    """What the control of a dialect sends."""
    binding = resolve_binding(CONTROLS[name])
    run = server.open_run(dialect(name), ScriptResponder())
    run.arm(0, turn(), (TOOL,))
    assert binding.open_stateless is not None
    provider = binding.open_stateless(Endpoint(run.base_url, CANARY_KEY, binding.model))
    callbacks: dict[str, Callable[[str], None]] = {"on_chunk": lambda text: None} if streamed else {}
    provider.complete([Message.user(QUESTION)], None, [TOOL], **callbacks)
    server.close_run(run)
    return run.exchanges[-1].request


def forms(server: EmulatorServer, *, streamed: bool) -> Mapping[str, Form]:
    """Every form of answers, by name: all controls', Gemini's stream as an array, and Ollama's other surface."""
    found = {name: Form(name, _record_request(server, name, streamed=streamed)) for name in CONTROLS}
    if streamed:
        array = replace(found["gemini"].request, query={})
        found["gemini, as an array"] = Form("gemini", array)
    messages = found["anthropic-messages"].request
    body = json.loads(messages.body) | {"model": resolve_binding(CONTROLS["ollama"]).model}
    found["ollama, /v1/messages"] = Form("ollama", replace(messages, body=json.dumps(body).encode()))
    return found


@dataclass
class Recording:
    """What arrived: everything of the body so far, and how the connection ended (`closed`, `reset`, or by `us`)."""

    arrived: bytearray = field(default_factory=bytearray)
    ended: str = ""

    @property
    def body(self) -> bytes:
        """The body without its transfer coding."""
        head, _, rest = bytes(self.arrived).partition(b"\r\n\r\n")
        return _dechunked(rest) if b"transfer-encoding: chunked" in head.lower() else rest


def _dechunked(data: bytes) -> bytes:
    """What chunks hold, also of one that broke off."""
    body = b""
    while b"\r\n" in data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            assert data in (b"", b"\r\n"), f"{data!r} behind the last chunk"
            break
        body += data[:length]
        data = data[length + 2 :]
    return body


def record(
    run: ServerRun,
    form: Form,
    *,
    method: str | None = None,
    until: Callable[[Recording], bool] = lambda recording: False,
    window: int | None = None,
) -> Recording:
    """Ask, and note what arrives until the server ends the connection, or until the client has what it wants.

    The client then closes at once, with a reset. `window` is how much may be on its way.
    """
    host, port = run.base_url.split("/")[2].split(":")
    recording = Recording()
    with socket.socket() as client:
        if window is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        client.settimeout(LIMIT)
        client.connect((host, int(port)))
        client.sendall(form.raw(run, method or form.request.method))
        client.settimeout(0.01)
        deadline = time.monotonic() + LIMIT
        while not recording.ended and time.monotonic() < deadline:
            if until(recording):
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                recording.ended = "us"
                break
            try:
                data = client.recv(65536)
            except TimeoutError:
                continue
            except ConnectionResetError:
                recording.ended = "reset"
                break
            recording.arrived += data
            recording.ended = "" if data else "closed"
    assert recording.ended, "the server never ended the connection"
    return recording


def evidence(run: ServerRun) -> list[WireResponse]:
    """What the evidence of the run has of its answers."""
    assert all(exchange.done.wait(LIMIT) for exchange in run.exchanges)
    scenario = Scenario("recording", "A recording", ())
    events = Gathering(run, scenario).finish(RunEnded(how="completed"))
    return [event for event in events if isinstance(event, WireResponse)]
