"""The form in which two requests of this API are one request: what cassettes match on.

Whatever the service does not tell apart is made equal: the two roles of instructions, a text as a string or in blocks,
thinking that is sent back or left out.
"""

from __future__ import annotations

from msgspec.structs import replace

from ...messages import JSON, Part, Text, Thought, thaw, to_builtins
from ..base import Call


def match_form(call: Call) -> JSON:
    """Model, system text, tools by name and schema, and messages; no thinking, no marks, no settings."""
    return {
        "operation": call.operation,
        "model": call.model,
        "system": "\n".join(part.text for part in call.system if isinstance(part, Text)),
        "tools": sorted(
            ([tool.name, tool.description, thaw(tool.parameters)] for tool in call.tools), key=lambda tool: str(tool[0])
        ),
        "messages": [
            [message.role, [_matched(part) for part in message.parts if not isinstance(part, Thought)]]
            for message in call.messages
        ],
    }


def _matched(part: Part) -> JSON:
    return to_builtins(replace(part, cache=None, provider_data=None))
