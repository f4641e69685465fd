"""The form in which two requests are one request: what cassettes match on.

Whatever a service does not tell apart is made equal: the order of tools, marks for the prompt cache, what only the
dialect itself reads of a part. Settings are left out. Each dialect says what it makes of the messages.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ..messages import JSON, Part, Text, Thought, thaw, to_builtins
from .base import Call


def build_form(call: Call, messages: list[Any]) -> dict[str, Any]:
    """Operation, model, system text, tools by name, description and schema, and the messages as they are passed."""
    tools = [[tool.name, tool.description, thaw(tool.parameters)] for tool in call.tools]
    return {
        "operation": call.operation,
        "model": call.model,
        "system": "\n".join(part.text for part in call.system if isinstance(part, Text)),
        "tools": sorted(tools, key=str),
        "messages": messages,
    }


def part_form(part: Part) -> Any:
    """A part without its mark for the prompt cache and without the dialect's own data."""
    return to_builtins(replace(part, cache=None, provider_data=None))


def form_without_thoughts(call: Call) -> JSON:
    """The form where thinking may be sent back or left out."""
    return build_form(
        call,
        [
            [message.role, [part_form(part) for part in message.parts if not isinstance(part, Thought)]]
            for message in call.messages
        ],
    )
