"""The session's tools, offered to the program as a server of the Model Context Protocol that lives in its own pipe.

The program asks over its control channel, in JSON-RPC; no process and no port is needed. Nothing is ever run here: a
call is answered, or handed back, by whoever has opened the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from turnproof.messages import Message, ToolSchema

from .._names import Naming, tool_names
from ..anthropic.parts import Restore

SERVER = "session"
"""The server's name. The program calls a tool of it `mcp__session__NAME`."""

PREFIX = f"mcp__{SERVER}__"

HINTS: Mapping[str, Any] = {
    # Without it the program runs calls one after the other. It asks for permission all the same.
    "annotations": {"readOnlyHint": True},
    "_meta": {"anthropic/maxResultSizeChars": 1_000_000_000},
}
"""What is told of each tool where the program is to call it."""

CALL_ID = "claudecode/toolUseId"
"""Where in a call's `_meta` its id stands."""

_NAMING = Naming("[a-zA-Z0-9_-]", "[a-zA-Z0-9_-]", 64 - len(PREFIX))

CONFIG: dict[str, Any] = {"mcpServers": {SERVER: {"type": "sdk", "name": SERVER}}}
"""How the program is told of the server."""


def wire_name(name: str) -> str:
    """The name under which the model knows a tool."""
    return PREFIX + _NAMING.name(name)


def restorer(messages: Sequence[Message], tools: Sequence[ToolSchema] | None) -> Restore:
    """What brings a call back into the caller's terms."""
    own = _NAMING.restorer(partial(tool_names, messages, tools))
    return lambda name, wire_input: (own(name.removeprefix(PREFIX)), wire_input)


def answer_mcp_request(
    tools: Sequence[ToolSchema], request: dict[str, Any], hints: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """The answer to a JSON-RPC message of the program's; empty for a notification. `hints` are told of each tool."""
    if "id" not in request:
        return {}
    head = {"jsonrpc": "2.0", "id": request["id"]}
    match request.get("method"):
        case "initialize":
            version = request.get("params", {}).get("protocolVersion", "2025-06-18")
            info = {"name": SERVER, "version": "1"}
            return {**head, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            return {**head, "result": {"tools": [{**_declared(tool), **hints} for tool in _sorted(tools)]}}
        case "ping":
            return {**head, "result": {}}
        case method:
            return {**head, "error": {"code": -32601, "message": f"no {method} here"}}


def _sorted(tools: Sequence[ToolSchema]) -> list[ToolSchema]:
    return sorted(tools, key=lambda one: one.name)


def _declared(tool: ToolSchema) -> dict[str, Any]:
    schema = {"type": "object", **tool.parameters}
    return {"name": _NAMING.name(tool.name), "description": tool.description, "inputSchema": schema}
