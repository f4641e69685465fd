"""What the program asks of this process in a turn: to run a tool, and whether it may.

Each of it is done in a thread of its own, so that calls run beside each other, and the program is heard meanwhile.
"""

from __future__ import annotations

import contextlib
import threading
import time
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import msgspec

from turnproof.agents import AgentSetup, Tool, ToolOutput
from turnproof.cancel import CancelToken
from turnproof.errors import ProviderError
from turnproof.messages import FileRef, FunctionCall, InlineData, thaw

from .._tool_outputs import output_of, still_running
from ..anthropic.parts import Restore
from ..claude_cli.lines import ProgramRequest
from ..claude_cli.pipe import Pipe
from ..claude_cli.tools import CALL_ID, HINTS, PREFIX, answer_mcp_request, wire_name


class ProgramRequests:
    """Those of one turn. `calls` are the model's own so far, by id; `token` is the turn's, for the tools."""

    def __init__(self, setup: AgentSetup, restore: Restore, token: CancelToken) -> None:
        self.calls: dict[str, FunctionCall] = {}
        self._setup = setup
        self._tools = {wire_name(tool.schema.name): tool for tool in setup.tools}
        self._restore = restore
        self._token = token
        self._lock = threading.Lock()
        self._running_ids: set[str] = set()
        self._running = 0
        self._idle_since = time.monotonic()

    def handle(self, pipe: Pipe, number: str, request: ProgramRequest) -> bool:
        """Answer a question of the program's, at once or later. False for one that nobody knows."""
        if request.subtype == "can_use_tool":
            self._away(pipe, number, lambda: self._permission(request))
        elif request.subtype == "mcp_message" and request.message.get("method") == "tools/call":
            self._away(pipe, number, lambda: self._called(request.message))
        elif request.subtype == "mcp_message":
            schemas = [tool.schema for tool in self._setup.tools]
            pipe.reply(number, {"mcp_response": answer_mcp_request(schemas, request.message, HINTS)})
        else:
            return False
        return True

    def silent_for(self, seconds: float) -> bool:
        """Whether the program has had nothing to wait for, for as long as this."""
        with self._lock:
            return self._running == 0 and time.monotonic() - self._idle_since >= seconds

    def _away(self, pipe: Pipe, number: str, do: Callable[[], dict[str, Any]]) -> None:
        with self._lock:
            self._running += 1

        def run() -> None:
            try:
                response = do()
                # A turn that is over, or being interrupted, waits for no answer; nor does a process that is gone.
                if not self._token.is_cancelled:
                    with contextlib.suppress(ProviderError):
                        pipe.reply(number, response)
            finally:
                with self._lock:
                    self._running -= 1
                    self._idle_since = time.monotonic()

        threading.Thread(target=run, daemon=True, name="claude-errand").start()

    # -- permission -------------------------------------------------------------------------------------------------

    def _permission(self, request: ProgramRequest) -> dict[str, Any]:
        if request.tool_name not in self._tools:
            return _denied(f"there is no tool {request.tool_name!r} in this session")
        name, arguments = self._restore(request.tool_name, request.input)
        call = self.calls.get(request.tool_use_id) or FunctionCall(request.tool_use_id, name, arguments)
        try:
            allowed = self._setup.permits(call)
        except Exception as error:  # it must become an answer: the program waits for one
            return _denied(f"nobody could be asked for permission ({type(error).__name__}: {error})")
        if not allowed:
            return _denied(f"the call of {name!r} was not permitted")
        return {"behavior": "allow", "updatedInput": request.input}

    # -- tools ------------------------------------------------------------------------------------------------------

    def _called(self, message: dict[str, Any]) -> dict[str, Any]:
        params = message.get("params", {})
        call_id = params.get("_meta", {}).get(CALL_ID, "")
        with self._lock:
            again = call_id in self._running_ids
            if call_id:
                self._running_ids.add(call_id)
        tool = self._tools.get(PREFIX + params.get("name", ""))
        if tool is None:
            output = ToolOutput(f"there is no tool {params.get('name')!r}", is_error=True)
        elif again:
            output = ToolOutput("this call was made before, and is not made twice", is_error=True)
        else:
            # The model's own words: the program has read its numbers as those of JavaScript.
            call = self.calls.get(call_id)
            args = params.get("arguments") or {} if call is None else thaw(call.args)
            output = self._in_time(tool, args, call_id)
        return {"mcp_response": {"jsonrpc": "2.0", "id": message.get("id"), "result": _content(output)}}

    def _in_time(self, tool: Tool, args: dict[str, Any], call_id: str) -> ToolOutput:
        """What the tool gives; a handle where it goes on in the background."""
        if tool.background_after is None:
            return output_of(tool, args, self._token)
        future: Future[ToolOutput] = Future()
        work = threading.Thread(
            target=lambda: future.set_result(output_of(tool, args, self._token)), daemon=True, name="claude-background"
        )
        work.start()
        try:
            return future.result(tool.background_after)
        except TimeoutError:
            return still_running(f"task-{call_id}")


def _denied(why: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": why}


def _content(output: ToolOutput) -> dict[str, Any]:
    """The result of a call, in MCP's form: a string as it is, any other value as JSON text."""
    attached = [_image(item) for item in output.attachments if _is_image(item)]
    others = [item.mime_type for item in output.attachments if not _is_image(item)]
    if others:
        refused = f"the tool attached {', '.join(map(repr, others))}, and claude takes only images from a tool"
        return {"content": [{"type": "text", "text": refused}], "isError": True}
    text = output.result if isinstance(output.result, str) else msgspec.json.encode(output.result).decode()
    unsaid = bool(attached) and (output.result is None or not text.strip())
    content = [] if unsaid else [{"type": "text", "text": text}]
    return {"content": content + attached, "isError": output.is_error}


def _is_image(item: InlineData | FileRef) -> bool:
    return isinstance(item, InlineData) and item.mime_type.startswith("image/")


def _image(item: InlineData | FileRef) -> dict[str, Any]:
    assert isinstance(item, InlineData)
    return {"type": "image", "mimeType": item.mime_type, "data": b64encode(item.data).decode()}
