"""What a tool gives, where a program calls it and waits for an answer whatever comes of it."""

from __future__ import annotations

import logging
from typing import Any

from turnproof.agents import Tool, ToolOutput
from turnproof.cancel import CancelToken
from turnproof.errors import PayloadError
from turnproof.messages import freeze

_log = logging.getLogger(__name__)


def output_of(tool: Tool, args: dict[str, Any], token: CancelToken) -> ToolOutput:
    """The tool's output, known to be JSON. Raises nothing: whatever the tool raises is an error output."""
    try:
        returned = tool.run(args, token)
        output = returned if isinstance(returned, ToolOutput) else ToolOutput(returned)
        return ToolOutput(freeze(output.result, "$.result"), output.is_error, tuple(output.attachments))
    except PayloadError as error:
        return ToolOutput(f"tool {tool.schema.name!r} returned what cannot be sent: {error}", is_error=True)
    except BaseException as error:  # a tool's thread ends here: also SystemExit must become an answer
        _log.debug("tool %r failed", tool.schema.name, exc_info=True)
        return ToolOutput(f"{type(error).__name__}: {error}", is_error=True)


def still_running(task_id: str) -> ToolOutput:
    """The handle that answers a call whose tool goes on in the background."""
    return ToolOutput({"task_id": task_id, "status": "running"})
