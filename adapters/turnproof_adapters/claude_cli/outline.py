"""What an answer consists of, without its words: enough to see whether the program holds what its caller does."""

from __future__ import annotations

from typing import Any

from ..anthropic.wire import Event


class Outline:
    """Feed it an answer's events. `blocks` has the type and id of each block; `calls` and `names` are of the calls."""

    def __init__(self) -> None:
        self.blocks: list[tuple[Any, Any]] = []
        self.calls: list[str] = []
        self.names: set[str] = set()
        self.says_anything = False
        self.stop_reason: str | None = None

    def take(self, event: Event) -> None:
        """Take one event."""
        block, delta = event.content_block, event.delta
        if block is not None:
            self.blocks.append(_kind(block))
            if block.get("type") == "tool_use":
                self.calls.append(str(block.get("id")))
                self.names.add(str(block.get("name")))
        if delta is not None:
            self.says_anything = self.says_anything or bool((delta.text or "").strip())
            self.stop_reason = delta.stop_reason or self.stop_reason


def outlined(message: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The blocks of a message in the same form; none for what the model has not said."""
    return [_kind(block) for block in message["content"]] if message.get("role") == "assistant" else []


def _kind(block: dict[str, Any]) -> tuple[Any, Any]:
    return block.get("type"), block.get("id")
