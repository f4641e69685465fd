"""A small chat framework that knows nothing of turnproof: its own lines, its own HTTP, its own errors.

Whoever binds it (`foreign_session.py`) may not change it, and has to do with what it offers. It speaks the Messages API
with the standard library alone.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit


class ChatError(Exception):
    """The service said no, or was not heard; `status` is 0 in the latter case."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status

    @property
    def passes(self) -> bool:
        return self.status == 0 or self.status == 429 or self.status >= 500


@dataclass
class Line:
    """One line of a chat: of the human, of the bot (with what it calls), or what a function returned to the bot."""

    who: str
    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    uid: str = field(default_factory=lambda: uuid.uuid4().hex)


@dataclass
class Function:
    """What the bot may call."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], Any]


class Chat:
    """A chat with one bot. `say` returns what it answered."""

    def __init__(
        self,
        url: str,
        key: str,
        model: str,
        *,
        instructions: str = "",
        functions: list[Function] | None = None,
        tries: int = 3,
        nap: Callable[[float], object] = lambda seconds: None,
    ) -> None:
        self.url, self.key, self.model = url, key, model
        self.instructions, self.functions = instructions, functions or []
        self.tries, self.nap = tries, nap
        self.lines: list[Line] = []
        self.tokens = (0, 0, 0)
        self._halted = threading.Event()
        self._socket: socket.socket | None = None

    def say(self, text: str, show: Callable[[str], object] | None = None) -> str:
        """One turn, streamed if `show` is given. Raises ChatError, and forgets the turn."""
        self._halted.clear()
        before = len(self.lines)
        self.lines.append(Line("human", text))
        try:
            while True:
                bot = self._ask(show)
                if bot.text or bot.calls:
                    self.lines.append(bot)
                if not bot.calls or self._halted.is_set():
                    return "".join(line.text for line in self.lines[before:] if line.who == "bot")
                self.lines.append(Line("function", results=[self._run(call) for call in bot.calls]))
                if self._halted.is_set():
                    return bot.text
        except BaseException:
            del self.lines[before:]
            raise

    def halt(self) -> None:
        """Stop the turn that is running; also from another thread."""
        self._halted.set()
        if self._socket is not None:
            self._socket.shutdown(socket.SHUT_RDWR)

    @property
    def halted(self) -> bool:
        return self._halted.is_set()

    def rewind(self, turns: int) -> None:
        """Keep so many turns."""
        starts = self.starts()
        if not 0 < turns <= len(starts):
            raise IndexError(f"there are {len(starts)} turns")
        del self.lines[[*starts, len(self.lines)][turns] :]

    def starts(self) -> list[int]:
        """Where turns begin."""
        return [at for at, line in enumerate(self.lines) if line.who == "human"]

    def dump(self) -> str:
        """The chat as text."""
        return json.dumps({"instructions": self.instructions, "lines": [asdict(line) for line in self.lines]})

    def restore(self, text: str) -> None:
        """The inverse of `dump`."""
        found = json.loads(text)
        self.lines = [Line(**line) for line in found["lines"]]
        self.instructions = found["instructions"]

    # -- one answer --------------------------------------------------------------------------------------------

    def _ask(self, show: Callable[[str], object] | None) -> Line:
        for attempt in range(1, self.tries + 1):
            try:
                return self._request(show)
            except ChatError as error:
                if self._halted.is_set():
                    return Line("bot")
                if not error.passes or attempt == self.tries:
                    raise
                self.nap(0.5 * attempt)
                if self._halted.is_set():
                    return Line("bot")
        raise AssertionError

    def _request(self, show: Callable[[str], object] | None) -> Line:
        where = urlsplit(self.url)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        headers = {"content-type": "application/json", "x-api-key": self.key, "anthropic-version": "2023-06-01"}
        line = Line("bot")
        try:
            connection.request("POST", f"{where.path}/v1/messages", json.dumps(self._body(show is not None)), headers)
            self._socket = connection.sock
            response = connection.getresponse()
            if response.status != 200:
                raise ChatError(response.status, response.read().decode())
            if show is None:
                self._whole(json.loads(response.read()), line)
            else:
                self._streamed(response, line, show)
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self._halted.is_set():
                raise ChatError(0, str(error)) from error
        except ChatError:
            if not self._halted.is_set():
                raise
        finally:
            self._socket = None
            connection.close()
        if self._halted.is_set():
            line.calls = []  # whatever was called in an answer that was cut off is not done
        return line

    def _whole(self, answer: dict[str, Any], line: Line) -> None:
        for block in answer["content"]:
            line.text += block.get("text", "")
            if block["type"] == "tool_use":
                line.calls.append({"id": block["id"], "name": block["name"], "input": block["input"]})
        self._count(answer["usage"]["input_tokens"], answer["usage"]["output_tokens"])

    def _streamed(self, response: http.client.HTTPResponse, line: Line, show: Callable[[str], object]) -> None:
        pieces = ""
        sent = 0
        for event in _events(response):
            match event["type"]:
                case "message_start":
                    sent = event["message"]["usage"]["input_tokens"]
                case "content_block_start" if event["content_block"]["type"] == "tool_use":
                    block = event["content_block"]
                    line.calls.append({"id": block["id"], "name": block["name"], "input": {}})
                    pieces = ""
                case "content_block_delta" if event["delta"]["type"] == "text_delta":
                    line.text += event["delta"]["text"]
                    show(event["delta"]["text"])
                case "content_block_delta":
                    pieces += event["delta"].get("partial_json", "")
                case "content_block_stop" if pieces:
                    line.calls[-1]["input"], pieces = json.loads(pieces), ""
                case "message_delta":
                    self._count(sent, event["usage"]["output_tokens"])
                case "message_stop":
                    return
        raise ChatError(0, "the stream ended before the answer did")

    def _count(self, sent: int, answered: int) -> None:
        self.tokens = (sent, answered, sent + answered)

    def _body(self, stream: bool) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "max_tokens": 500, "stream": stream, "messages": self._messages()}
        if self.instructions:
            body["system"] = self.instructions
        if self.functions:
            body["tools"] = [
                {"name": one.name, "description": one.description, "input_schema": one.schema} for one in self.functions
            ]
        return body

    def _messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        for line in self.lines:
            role = "assistant" if line.who == "bot" else "user"
            blocks: list[dict[str, Any]] = [
                {"type": "tool_result", "tool_use_id": one["id"], "content": one["text"], "is_error": one["failed"]}
                for one in line.results
            ]
            blocks += [{"type": "text", "text": line.text}] if line.text else []
            blocks += [{"type": "tool_use", **call} for call in line.calls]
            if messages and messages[-1]["role"] == role:
                messages[-1]["content"] += blocks
            else:
                messages.append({"role": role, "content": blocks})
        return messages

    def _run(self, call: dict[str, Any]) -> dict[str, Any]:
        if self._halted.is_set():
            return {"id": call["id"], "name": call["name"], "text": "stopped", "failed": True}
        known = {one.name: one for one in self.functions}
        try:
            found = known[call["name"]].run(dict(call["input"]))
        except Exception as error:
            return {"id": call["id"], "name": call["name"], "text": repr(error), "failed": True}
        text = found if isinstance(found, str) else json.dumps(found)
        return {"id": call["id"], "name": call["name"], "text": text, "failed": False}


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for raw in response:
        if raw.startswith(b"data: "):
            event = json.loads(raw[6:])
            if event["type"] == "error":
                raise ChatError(529, event["error"]["message"])
            yield event
