"""The conversations that are measured: user text, tool call, tool result, answer, about 200 characters each."""

from __future__ import annotations

from typing import Any

from turnproof.messages import FunctionCall, Message, ToolResult, ToolSchema

SYSTEM = "You keep a greenhouse log. " * 8
TOOL = ToolSchema(
    "read_sensor",
    "Read one sensor of a bed",
    {"type": "object", "properties": {"bed": {"type": "string"}}, "required": ["bed"]},
)
_FILL = 'The log of bed – "quoted", with ümlauts and a\nnew line – goes on and on, so that a message has its size. ' * 2


def neutral(count: int) -> list[Message]:
    """`count` messages; the last one never is a dangling call."""
    made: list[Message] = []
    for number in range(count):
        id = f"toolu_{number - number % 4:06d}"
        match number % 4:
            case 0:
                made.append(Message.user(f"{number}: {_FILL}"))
            case 1:
                made.append(Message.model(FunctionCall(id, "read_sensor", {"bed": f"{number}", "why": _FILL[:120]})))
            case 2:
                made.append(Message.tool(ToolResult(id, "read_sensor", f"{number} % {_FILL[:150]}")))
            case _:
                made.append(Message.model(f"{number}: {_FILL}"))
    return made if count % 4 != 2 else [*made[:-1], Message.model(_FILL)]


def native(messages: list[Message]) -> list[dict[str, Any]]:
    """The same conversation as the dicts that the official SDK takes; converted outside the timed region."""
    out: list[dict[str, Any]] = []
    for message in messages:
        if message.calls:
            call = message.calls[0]
            block: dict[str, Any] = {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.args)}
            out.append({"role": "assistant", "content": [block]})
        elif message.results:
            result = message.results[0]
            block = {"type": "tool_result", "tool_use_id": result.call_id, "content": result.result}
            out.append({"role": "user", "content": [block]})
        else:
            role = "assistant" if message.role == "model" else "user"
            out.append({"role": role, "content": [{"type": "text", "text": message.text}]})
    return out
