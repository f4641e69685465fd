"""A session that is open: its tools, the turn in it, and what its client is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .blocks import text_block
from .tools import Served
from .wire import Wire


class Stopped(Exception):
    """The turn was cancelled."""


class Session:
    """A session that is open. What it shows goes to the client at once."""

    def __init__(self, wire: Wire, record: dict[str, Any], system: str, servers: list[Served]) -> None:
        self.wire = wire
        self.record = record
        self.system = system
        self.servers = servers
        self.cancelled = threading.Event()
        self.busy = False
        self.lost_count = False
        self._stop: Callable[[], None] | None = None

    def on_cancel(self, stop: Callable[[], None] | None) -> None:
        """What to do at a cancel from now on, or at once if there was one."""
        self._stop = stop
        if stop is not None and self.cancelled.is_set():
            stop()

    def cancel(self) -> None:
        if self.busy:
            self.cancelled.set()
            if (stop := self._stop) is not None:
                stop()

    def check(self) -> None:
        if self.cancelled.is_set():
            raise Stopped

    def tool(self, name: str) -> tuple[Served, str] | None:
        for server in self.servers:
            for tool in server.tools:
                if name == f"mcp__{server.name}__{tool['name']}":
                    return server, tool["name"]
        return None

    def close(self) -> None:
        for server in self.servers:
            server.close()

    # -- what it shows

    def update(self, kind: str, /, **update: Any) -> None:
        params = {"sessionId": self.record["sessionId"], "update": {"sessionUpdate": kind, **update}}
        self.wire.notify("session/update", params)

    def show_text(self, kind: str, text: str, number: str) -> None:
        self.update(kind, content=text_block(text), messageId=number)

    def show_call(self, block: dict[str, Any], arguments: Any, kind: str = "tool_call") -> None:
        name = block["name"]
        state = {"status": "pending"} if kind == "tool_call" else {}
        meta = {"claudeCode": {"toolName": name}}
        shown = {"toolCallId": block["id"], "rawInput": arguments, "title": name, "kind": "other", "content": []}
        self.update(kind, _meta=meta, **shown, **state)

    def show_result(self, block: dict[str, Any]) -> None:
        content = [{"type": "content", "content": each} for each in block["content"]]
        status = "failed" if block.get("is_error") else "completed"
        self.update("tool_call_update", toolCallId=block["tool_use_id"], status=status, content=content)
