"""What absurd sizes cost the reference adapters, over HTTP against the emulator or from a service that streams.

    python benchmarks/bench_absurd.py [--messages 10000 30000 99000] [--megabytes 5 15 50] [--events 10000 100000]

Turns on a history of so many messages, turns with one tool result of so many megabytes, and the reading of streams of
so many events, or with so many megabytes in one of them. Seconds of CPU: for requests those of adapter and emulator
together, for streams those of the adapter alone. What is in proportion has the same figure for each thing in the last
column, whatever the size. The SDK's own reader of the legacy `anthropic` path is not for large events.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from time import process_time
from typing import Any

import httpx2
from bench_history import conversation
from unlimited_model import unlimited_provider

from turnproof.messages import FunctionCall, Message, ToolResult, ToolSchema
from turnproof.provider import Binding, Endpoint, Path
from turnproof.session import Session, Tool
from turnproof.wire.emulator import EmulatorServer
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE

PATHS: tuple[Path, ...] = ("stateless", "legacy")
LOOK = Tool(ToolSchema("look"), lambda args, token: "seen")
CHUNK = 65_536


def show(what: str, binding: Binding, path: Path, size: float, unit: str, seconds: Sequence[float]) -> None:
    """A line: the size, the seconds, and for the last of them what each unit of the size took."""
    figures = " ".join(f"{each:8.2f}" for each in seconds)
    print(
        f"{what:<18} {binding.name:<13} {path:<10} {size:>9,} {figures}   {seconds[-1] / size * 1e6:10.1f} us a {unit}"
    )
    sys.stdout.flush()


def timed(action: Callable[[], Any]) -> float:
    """Seconds of CPU."""
    before = process_time()
    action()
    return process_time() - before


# -- what is sent ---------------------------------------------------------------------------------------------


def one_result(megabytes: int) -> list[Message]:
    """A conversation with one result of this size."""
    text = "The bed is moist. " * (megabytes * 1_000_000 // 18)
    call = FunctionCall("c1", "look", {})
    return [Message.user("hi"), Message.model(call), Message.tool(ToolResult("c1", "look", text)), Message.model("ok")]


def turns(server: EmulatorServer, binding: Binding, path: Path, history: Sequence[Message]) -> list[float]:
    """Seconds of a first and a second turn on the history, in a model without limits."""
    with unlimited_provider(server, binding, path) as (provider, _):
        session = Session(provider, path=path, tools=[LOOK])
        session.reset(history)
        return [timed(lambda: session.send("And?")) for _ in range(2)]


# -- what is read ---------------------------------------------------------------------------------------------


class Chunks(httpx2.SyncByteStream):
    """A body as a socket would give it."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._body), CHUNK):
            yield self._body[at : at + CHUNK]


def anthropic_stream(texts: Sequence[str]) -> bytes:
    """A streamed answer of these pieces."""
    shell = {"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": []}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**shell, "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in texts),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def gemini_stream(texts: Sequence[str]) -> bytes:
    """The same of the Gemini API."""
    candidates: list[dict[str, Any]] = [{"content": {"role": "model", "parts": [{"text": text}]}} for text in texts]
    candidates[-1]["finishReason"] = "STOP"
    return "".join(f"data: {json.dumps({'candidates': [each]})}\r\n\r\n" for each in candidates).encode()


def reading(binding: Binding, path: Path, texts: Sequence[str]) -> list[float]:
    """Seconds to read a streamed answer of these pieces."""
    body = anthropic_stream(texts) if binding is ANTHROPIC else gemini_stream(texts)

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, stream=Chunks(body), headers={"content-type": "text/event-stream"})

    opener = binding.opener(path)
    assert opener is not None
    options = {"transport": httpx2.MockTransport(answer)}
    session = Session(opener(Endpoint("http://example.invalid", "key", binding.model, options)), path=path)
    pieces: list[str] = []
    seconds = timed(lambda: session.send("Go.", on_chunk=pieces.append))
    assert "".join(pieces) == "".join(texts)
    return [seconds]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="*", default=[10_000, 30_000, 99_000])
    parser.add_argument("--megabytes", type=int, nargs="*", default=[5, 15, 50])
    parser.add_argument("--events", type=int, nargs="*", default=[10_000, 100_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    with EmulatorServer() as server:
        for binding in (ANTHROPIC, GOOGLE):
            for path in PATHS:
                for count in options.messages:
                    show("messages", binding, path, count, "message", turns(server, binding, path, conversation(count)))
                for size in options.megabytes:
                    show("one result, MB", binding, path, size, "MB", turns(server, binding, path, one_result(size)))
                for count in options.events:
                    show("events", binding, path, count, "event", reading(binding, path, ["0123456789"] * count))
                for size in options.megabytes:
                    show("one event, MB", binding, path, size, "MB", reading(binding, path, ["x" * size * 1_000_000]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
