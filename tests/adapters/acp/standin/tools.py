"""A server of tools, that the client has told of: a process, asked over MCP."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from typing import Any


class Served:
    """A server of tools."""

    def __init__(self, config: dict[str, Any]) -> None:
        own = {each["name"]: each["value"] for each in config["env"]}
        self.name = config["name"]
        self._process = subprocess.Popen(
            [config["command"], *config["args"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **own},
        )
        self._next = 0
        self._lock = threading.Lock()
        self._waiting: dict[int, queue.SimpleQueue[dict[str, Any] | None]] = {}
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "s", "version": "1"})
        self._write({"method": "notifications/initialized"})
        self.tools = self.ask("tools/list")["tools"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        return self.wait(self.begin(method, **params)) or {}

    def begin(self, method: str, **params: Any) -> int:
        with self._lock:
            self._next += 1
            number = self._next
        self._waiting[number] = queue.SimpleQueue()
        self._write({"id": number, "method": method, "params": params})
        return number

    def wait(self, number: int) -> dict[str, Any] | None:
        """The answer; None where the call was dropped."""
        answer = self._waiting[number].get()
        self._waiting.pop(number)
        if answer is None:
            return None
        found: dict[str, Any] = answer.get("result") or {"isError": True, "content": []}
        return found

    def drop(self, number: int) -> None:
        waiting = self._waiting.get(number)
        if waiting is not None:
            self._write({"method": "notifications/cancelled", "params": {"requestId": number}})
            waiting.put(None)

    def close(self) -> None:
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.wait()

    def _write(self, message: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")  # type: ignore[union-attr]
        self._process.stdin.flush()  # type: ignore[union-attr]

    def _read(self) -> None:
        for line in self._process.stdout or ():
            message = json.loads(line)
            if message.get("id") in self._waiting:
                self._waiting[message["id"]].put(message)
