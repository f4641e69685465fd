"""What a user's own command did, as the model gets to read it: the command, and below it what came of it.

It is a message of the user, which every provider takes at any place between turns, also as the first. A call and a
result would need a signature of the model's, and would claim that the model had called.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import UsageError
from ..messages import JSON, Part, Text, freeze
from ..subject import ToolOutput
from .tools import to_output


def command_parts(command: str, returned: Any) -> tuple[Part, ...]:
    """The parts of such a message; what a command returns has the shapes of what a tool returns.

    Raises UsageError for a blank command, and PayloadError for an outcome that is not JSON.
    """
    if not command.strip():
        raise UsageError("a command that the model is told of needs a name: the text is empty")
    output = to_output(returned)
    text = output_text(output)
    return (Text(f"{command}\n{text}" if text.strip() else command), *output.attachments)


def output_text(output: ToolOutput) -> str:
    """What an output says: a string as it is, nothing for None, any other value as JSON, and whether it failed."""
    result: JSON = freeze(output.result, "$.result")
    match result:
        case str():
            text = result
        case None:
            text = ""
        case _:
            text = msgspec.json.encode(result).decode()
    return f"error: {text}" if output.is_error else text
