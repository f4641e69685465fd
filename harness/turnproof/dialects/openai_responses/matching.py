"""The form in which two requests of this API are one request: what cassettes match on.

Whatever the service does not tell apart is made equal: ids of items, which vary from run to run; the ways to give
instructions; whether the service held the front of a conversation or the request carried it. Reasoning may be left out.
"""

from __future__ import annotations

from msgspec.structs import replace

from ...messages import JSON, Text, Thought, ToolSchema, thaw, to_builtins
from ..base import Call


def match_form(call: Call) -> JSON:
    """Model, system text, tools by name and schema, and messages; no reasoning, no ids of items, no settings."""
    said = (
        (message.role, [part for part in message.parts if not isinstance(part, Thought)]) for message in call.messages
    )
    return {
        "operation": call.operation,
        "model": call.model,
        "system": "\n".join(part.text for part in call.system if isinstance(part, Text)),
        "tools": sorted(map(_tool, call.tools), key=str),
        "messages": [
            [role, [to_builtins(replace(part, provider_data=None, cache=None)) for part in parts]]
            for role, parts in said
        ],
    }


def _tool(tool: ToolSchema) -> JSON:
    return [tool.name, tool.description, thaw(tool.parameters)]
