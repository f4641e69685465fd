"""What no API takes, whoever it is: calls and results in the wrong mouth, and texts that are none.

Only the model calls tools, and an instruction has no results: such a part has no form on the wire that would mean the
same. Half of a surrogate pair has no form in UTF-8. Both are refused before anything is sent, with their place.
"""

from __future__ import annotations

from typing import TypeVar

from turnproof.errors import InvalidRequestError
from turnproof.messages import FunctionCall, Message, Text, Thought, ToolResult

from ._characters import is_whole

V = TypeVar("V")


def refuse_unsendable(message: Message) -> None:
    """Raise InvalidRequestError, with the message and the part, for what cannot be sent as it is."""
    for place, part in enumerate(message.parts):
        match part:
            case FunctionCall(name=name) if message.role != "model":
                raise refusal(message, place, f"a call of {name!r:.80}, and only the model calls tools")
            case ToolResult(name=name) if message.role == "system":
                raise refusal(message, place, f"a result of {name!r:.80}, which belongs into a tool message")
            case Text(text=text) | Thought(text=text) if not is_whole(text):
                raise refusal(message, place, "a text with half of a surrogate pair in it, which is not valid Unicode")


def require_messages(wire: list[V]) -> list[V]:
    """The wire messages of a conversation. Raises InvalidRequestError where there are none: no API answers a
    conversation in which nothing is said."""
    if not wire:
        raise InvalidRequestError("there is nothing to send: no message of the conversation says anything")
    return wire


def refusal(message: Message, place: int, what: str) -> InvalidRequestError:
    """The refusal of one part of a message."""
    return InvalidRequestError(f"message {message.message_id!r:.80} of the {message.role}: $.parts[{place}] is {what}")
