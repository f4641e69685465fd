"""The tools of a session as a server of the Model Context Protocol, and their runs: one for each call.

The agent starts a relay as its server (`_mcp_relay`), and what it says comes here through a socket: the tools run in
this process, each call in a thread of its own.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from turnproof.agents import Tool, ToolOutput
from turnproof.cancel import CancelToken
from turnproof.messages import FileRef, FunctionCall, InlineData, thaw

from .. import _mcp_relay
from .._tool_outputs import output_of, still_running
from ..claude_cli.tools import PREFIX, SERVER, answer_mcp_request, wire_name

_LONGEST = 1 << 30
"""Bytes of a line that are read: as good as all."""


class ToolServer:
    """Serves the tools while it is open. Its methods belong to the loop's thread, `turn` to the one that asks.

    permits: asked before a tool runs, where the program does not ask by itself. No is told to the model.
    wraps:   whether texts that can be read as JSON, and are no object, are given in one as well.
    """

    def __init__(
        self,
        tools: Sequence[Tool],
        permits: Callable[[FunctionCall], bool] | None = None,
        *,
        wraps: bool = False,
    ) -> None:
        self._wraps = wraps
        self._schemas = tuple(tool.schema for tool in tools)
        self._tools = {wire_name(tool.schema.name).removeprefix(PREFIX): tool for tool in tools}
        self._permits = permits
        self._token: CancelToken | None = None
        self._folder: Path | None = None
        self._server: asyncio.Server | None = None
        self._talks: set[asyncio.Task[None]] = set()
        self._background = 0
        self.running = 0
        """Calls that the agent waits for."""
        self.calls: list[FunctionCall] = []
        """The calls of this turn, in the order in which they came."""

    def turn(self, token: CancelToken | None) -> None:
        """A turn begins, or, with None, is over. Its token stops its calls; without a turn no tool runs."""
        self._token = token
        if token is not None:
            self.calls = []

    async def open(self) -> list[dict[str, Any]]:
        """Serve; what `mcpServers` says of it. Without tools there is no server."""
        if not self._tools:
            return []
        if self._folder is None:
            # A socket's path has a limit that a folder of the caller's may exceed.
            self._folder = Path(tempfile.mkdtemp(prefix="turnproof-tools-"))
            self._server = await asyncio.start_unix_server(self._serve, self._folder / "socket", limit=_LONGEST)
        command = ["-I", "-S", str(Path(_mcp_relay.__file__).absolute()), str(self._folder / "socket")]
        return [{"name": SERVER, "command": sys.executable, "args": command, "env": []}]

    async def close(self) -> None:
        """Hang up."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for talk in list(self._talks):
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    # -- one connection -------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talk = asyncio.current_task()
        assert talk is not None
        self._talks.add(talk)
        calls: dict[Any, tuple[asyncio.Task[None], CancelToken]] = {}
        try:
            while line := await reader.readline():
                with contextlib.suppress(ValueError):
                    self._take(json.loads(line), writer, calls)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            for _, token in calls.values():
                token.cancel()
            writer.close()
            self._talks.discard(talk)

    def _take(self, request: Any, writer: asyncio.StreamWriter, calls: dict[Any, Any]) -> None:
        match request:
            case {"method": "tools/call", "id": number, "params": {"name": str(name), **rest}}:
                own = CancelToken()
                arguments = rest.get("arguments")
                work = self._call(number, name, dict(arguments) if isinstance(arguments, dict) else {}, own, writer)
                task = asyncio.get_running_loop().create_task(work)
                calls[number] = (task, own)
                task.add_done_callback(lambda _: calls.pop(number, None))
            case {"method": "notifications/cancelled", "params": {"requestId": number}}:
                if number in calls:
                    calls[number][1].cancel()
            case {"method": _}:
                if reply := answer_mcp_request(self._schemas, request):
                    _write(writer, reply)
            case _:
                pass

    async def _call(
        self, number: Any, name: str, args: dict[str, Any], own: CancelToken, writer: asyncio.StreamWriter
    ) -> None:
        tool, token = self._tools.get(name), self._token
        if tool is None:
            error = {"code": -32602, "message": f"there is no tool {name!r}"}
            _write(writer, {"jsonrpc": "2.0", "id": number, "error": error})
            return
        if token is None or token.is_cancelled:
            output = ToolOutput("the turn is over: no tool runs", is_error=True)
        else:
            output = await self._run(tool, FunctionCall(str(number), tool.schema.name, args), own, token)
        _write(writer, {"jsonrpc": "2.0", "id": number, "result": _result(output, self._wraps)})

    async def _run(self, tool: Tool, call: FunctionCall, own: CancelToken, turn: CancelToken) -> ToolOutput:
        self.running += 1
        self.calls.append(call)
        loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def finish(output: ToolOutput) -> None:
            if not done.done():
                done.set_result(output)

        def work() -> None:
            output = _output(tool, call, own, self._permits)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(finish, output)

        forget = turn.on_cancel(own.cancel)
        try:
            threading.Thread(target=work, daemon=True, name=f"tool-{call.name}").start()
            patience = tool.background_after
            try:
                return await asyncio.wait_for(asyncio.shield(done), patience)
            except TimeoutError:
                self._background += 1
                return still_running(f"task-{self._background}")
        finally:
            self.running -= 1
            if done.done():
                forget()


def _output(
    tool: Tool, call: FunctionCall, token: CancelToken, permits: Callable[[FunctionCall], bool] | None
) -> ToolOutput:
    try:
        if permits is not None and not permits(call):
            return ToolOutput("the user does not permit this call", is_error=True)
    except Exception as error:  # it must become an answer: the program waits for one
        return ToolOutput(f"nobody could be asked for permission ({type(error).__name__}: {error})", is_error=True)
    return output_of(tool, thaw(call.args), token)


def _result(output: ToolOutput, wraps: bool) -> dict[str, Any]:
    value = thaw(output.result)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    content = [{"type": "text", "text": text}, *map(_content, output.attachments)]
    call_result = {"content": content, "isError": output.is_error}
    return {**call_result, "structuredContent": {"result": text}} if wraps and _is_bare_json(text) else call_result


def _is_bare_json(text: str) -> bool:
    try:
        return not isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _content(attachment: InlineData | FileRef) -> dict[str, Any]:
    if isinstance(attachment, FileRef):
        name = attachment.uri.rsplit("/", 1)[-1] or attachment.uri
        return {"type": "resource_link", "uri": attachment.uri, "name": name, "mimeType": attachment.mime_type}
    data = base64.b64encode(attachment.data).decode("ascii")
    if attachment.mime_type.startswith("image/"):
        return {"type": "image", "data": data, "mimeType": attachment.mime_type}
    return {
        "type": "resource",
        "resource": {"uri": "file:///attachment", "mimeType": attachment.mime_type, "blob": data},
    }


def _write(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    if not writer.is_closing():
        writer.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
