"""Calls of a provider's own SDK, which benchmarks compare adapters with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..messages import Message, ToolSchema
from .call_types import OnChunk


@dataclass(frozen=True, slots=True)
class Conversation:
    """A complete conversation to send. Its last message is the user's, and has no answer yet."""

    messages: tuple[Message, ...]
    system: str
    tools: tuple[ToolSchema, ...]


class PlainCall(Protocol):
    """A call of the provider's official SDK for one conversation, with no adapter around it.

    `turnproof bench` holds an adapter's turns against it. It is opened once and called many times, and sends the whole
    conversation each time. What can be done beforehand (converting the history to the SDK's own types) belongs where
    it is opened, or into `ready`: neither is measured.
    """

    def ready(self) -> None:
        """Stand where the last message of the conversation is still to be sent. Comes before each call."""

    def ask(self) -> str:
        """Have the conversation answered in one piece; the visible text of the answer."""

    def stream(self, on_chunk: OnChunk) -> None:
        """Have it answered in pieces, each told as it arrives."""

    def close(self) -> None:
        """Release the connections."""


@runtime_checkable
class PlainConversation(PlainCall, Protocol):
    """A plain call that can also hold a conversation, as a user of the SDK does it: by a history that grows.

    What `say` takes is measured, with the growing. `history` is looked at for what it holds in memory, after the call
    was opened: the messages of its conversation in the SDK's own types.
    """

    history: Any

    def begin(self) -> None:
        """Start anew, with the system text and the tools of the conversation and no message."""

    def say(self, text: str) -> str:
        """Take a turn: the user's words, and the answer, which is put into the history."""
