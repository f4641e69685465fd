"""Two tools behind standard input and output, for programs that call tools of their own: one answers, one fails."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [
    {
        "name": "read_sensor",
        "description": "Read one sensor",
        "inputSchema": {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]},
    },
    {"name": "open-valve", "description": "Open a valve", "inputSchema": {"type": "object", "properties": {}}},
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            version = params["protocolVersion"]
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "session", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            failed = params["name"] == "open-valve"
            return {"content": [{"type": "text", "text": "stuck" if failed else "41 %"}], "isError": failed}
        case _:
            return {}


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
