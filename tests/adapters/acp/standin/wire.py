"""JSON-RPC over standard input and output: requests of the client, and questions of our own."""

from __future__ import annotations

import json
import queue
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Refused(Exception):
    """The answer to a request is this error."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({} if data is None else {"data": data})}


class Wire:
    """Lines in both directions. They may be written from several threads."""

    def __init__(self, *, garbage: bool) -> None:
        self._garbage = garbage
        self._lock = threading.Lock()
        self._replies: dict[Any, queue.SimpleQueue[dict[str, Any]]] = {}
        self._questions = 0

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield each request of the client until the input ends. Its answers go to the call that asked."""
        for line in sys.stdin:
            message = json.loads(line)
            if "method" in message:
                yield message
            else:
                self._replies[message["id"]].put(message.get("result") or {"outcome": {"outcome": "cancelled"}})

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self._write(method=method, params=params)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Ask the client, and wait for its answer."""
        self._questions += 1
        number = f"q{self._questions}"
        self._replies[number] = queue.SimpleQueue()
        self._write(id=number, method=method, params=params)
        return self._replies[number].get()

    def answer(self, number: Any, find: Callable[[], Iterator[Any]]) -> None:
        """Answer a request with the first thing that `find` gives, and call what else it gives behind that."""
        try:
            result, *after = find()
            self._write(id=number, result=result)
            for each in after:
                each()
        except Refused as error:
            self._write(id=number, error=error.error)
        except Exception as error:
            self._write(id=number, error={"code": -32603, "message": f"{type(error).__name__}: {error}"})

    def _write(self, **message: Any) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with self._lock:
            if self._garbage:
                sys.stdout.write('Debugger listening\n{"half": \n17\n[]\n\n')
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
