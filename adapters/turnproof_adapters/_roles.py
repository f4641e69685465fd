"""Who may say what, whatever the API: only the model calls tools, and no result is its own.

A misplaced part has no form on the wire that would mean the same, so it is refused before anything is sent.
"""

from __future__ import annotations

from turnproof.errors import InvalidRequestError
from turnproof.messages import FunctionCall, Message, ToolResult

_ANSWERING = ("tool", "user")


def refuse_misplaced(message: Message) -> None:
    """Raise InvalidRequestError, with the message and the part, for a call or a result that is not this role's."""
    for place, part in enumerate(message.parts):
        match part:
            case FunctionCall(name=name) if message.role != "model":
                raise misplaced(message, place, f"a call of {name!r}, and only the model calls tools")
            case ToolResult(name=name) if message.role not in _ANSWERING:
                raise misplaced(message, place, f"a result of {name!r}, which belongs into a tool message of its own")


def misplaced(message: Message, place: int, what: str) -> InvalidRequestError:
    """The refusal of one part of a message."""
    return InvalidRequestError(f"message {message.message_id!r} of the {message.role}: $.parts[{place}] is {what}")
