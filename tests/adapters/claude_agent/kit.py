"""What the tests of this agent share: the program, scripted or real, and an API for it to ask."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turnproof.agents import AgentSetup, Tool
from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall
from turnproof.provider import Endpoint
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_adapters.claude_agent.agent import ClaudeAgent
from turnproof_adapters.claude_agent.binding import AGENT

from ..emulated_conversation import SENSOR, SYSTEM
from ..scripted_server import Exchange, Script

PROGRAM = os.environ.get("TURNPROOF_CLAUDE") or str(Path(__file__).with_name("standin.py"))
"""The program under test: what the variable names, or the stand-in."""

WIRE = "mcp__session__read_sensor"


def sensor(run: Callable[[dict[str, Any], CancelToken], Any] = lambda args, token: "41 %") -> Tool:
    return Tool(SENSOR, run)


class Place:
    """A home and a folder to work in; agents that are opened there are shut down at the end."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.cwd = root / "work"
        self.cwd.mkdir()
        self.opened: list[ClaudeAgent] = []

    def agent(
        self,
        url: str = "http://127.0.0.1:9",
        *tools: Tool,
        program: str = PROGRAM,
        system: str | None = SYSTEM,
        session: str | None = None,
        continue_last: bool = False,
        permits: Callable[[FunctionCall], bool] = lambda call: True,
        cwd: Path | None = None,
        **options: Any,
    ) -> ClaudeAgent:
        endpoint = Endpoint(url, CANARY_KEY, AGENT.model, {"program": program, **options})
        folder = str(cwd or self.cwd)
        setup = AgentSetup(endpoint, str(self.home), folder, system, tools, session, continue_last, permits)
        agent = AGENT.open(setup)
        assert isinstance(agent, ClaudeAgent)
        self.opened.append(agent)
        return agent

    def files(self) -> list[Path]:
        return sorted(self.home.glob("projects/*/*.jsonl"))


@contextmanager
def place(root: Path) -> Iterator[Place]:
    found = Place(root)
    try:
        yield found
    finally:
        for agent in found.opened:
            agent.shutdown()


# -- an API that answers as it is told --------------------------------------------------------------------------------


def call(name: str = WIRE, call_id: str | None = None, **args: Any) -> dict[str, Any]:
    """A call, for an answer of `says`."""
    return {"id": call_id or f"toolu_{uuid.uuid4().hex}", "name": name, "args": json.dumps(args)}


def events(*blocks: Any, stop: str | None = None, usage: tuple[int, int] = (3, 5)) -> list[bytes]:
    """An answer of texts, thinking (`("hm", "signature")`) and calls, event by event."""
    calls = any(isinstance(block, dict) for block in blocks)
    reason = stop or ("tool_use" if calls else "end_turn")
    message = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": AGENT.model}
    first_usage = {"input_tokens": usage[0], "output_tokens": 1}
    found: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": first_usage}}
    ]
    for index, block in enumerate(blocks):
        found += [{**event, "index": index} for event in _block_events(block)]
        found.append({"type": "content_block_stop", "index": index})
    end = {"stop_reason": reason, "stop_sequence": None}
    found += [{"type": "message_delta", "delta": end, "usage": {"output_tokens": usage[1]}}, {"type": "message_stop"}]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in found]


def _block_events(block: Any) -> list[dict[str, Any]]:
    if isinstance(block, str):
        empty_block: dict[str, Any] = {"type": "text", "text": ""}
        deltas: Sequence[dict[str, Any]] = [{"type": "text_delta", "text": block}]
    elif isinstance(block, tuple):
        empty_block = {"type": "thinking", "thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": block[0]}, {"type": "signature_delta", "signature": block[1]}]
    else:
        empty_block = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": block["args"]}]
    start = {"type": "content_block_start", "content_block": empty_block}
    return [start, *({"type": "content_block_delta", "delta": delta} for delta in deltas)]


def says(*blocks: Any, stop: str | None = None, usage: tuple[int, int] = (3, 5)) -> Script:
    """Answer with these blocks."""
    return lambda exchange: exchange.stream(*events(*blocks, stop=stop, usage=usage))


def begins(text: str, *, hangs: bool) -> Script:
    """Answer with the begin of a text, and then with nothing, or by hanging up."""

    def script(exchange: Exchange) -> None:
        exchange.stream_head()
        for piece in events(text)[:3]:
            exchange.chunk(piece)
        if hangs:
            exchange.wait_for_hangup()
        else:
            exchange.end()

    return script


def refuses(status: int, kind: str, message: str) -> Script:
    """Refuse the request."""
    return lambda exchange: exchange.answer({"type": "error", "error": {"type": kind, "message": message}}, status)


def conversation(exchange: Exchange) -> list[tuple[str, str]]:
    """The roles and texts of a request."""
    return [(message["role"], _text(message["content"])) for message in exchange.json["messages"]]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") or _text(block.get("content", "")) for block in content)
