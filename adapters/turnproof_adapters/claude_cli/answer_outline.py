"""What an answer consists of, without its words: enough to see what the program is going to do behind it."""

from __future__ import annotations

from typing import Any

import msgspec

from ..anthropic.wire import Event

_ENDS = frozenset({"end_turn", "stop_sequence", "tool_use"})
"""Stop reasons after which the program waits for its user. After others it asks the model to go on, or once more."""

_arguments = msgspec.json.Decoder(dict[str, Any])


class Outline:
    """Feed it an answer's events. `blocks` has the type and id of each block, `calls` the ids of those that are calls.

    `tools` are the names of the tools that there are.
    """

    def __init__(self, tools: frozenset[str]) -> None:
        self.blocks: list[tuple[Any, Any]] = []
        self.calls: list[str] = []
        self._tools = tools
        self._says_anything = False
        self._can_be_made = True
        self._pieces: list[str] = []
        self._stop_reason: str | None = None

    def feed(self, event: Event) -> None:
        """Take one event."""
        block, delta = event.content_block, event.delta
        if block is not None:
            self.blocks.append(_kind(block))
            self._pieces.clear()
            if block.get("type") == "tool_use":
                self.calls.append(str(block.get("id")))
                self._can_be_made = self._can_be_made and block.get("name") in self._tools
        if delta is not None:
            self._says_anything = self._says_anything or bool((delta.text or "").strip())
            self._stop_reason = delta.stop_reason or self._stop_reason
            self._pieces.append(delta.partial_json or "")
        if event.type == "content_block_stop":
            self._can_be_made = self._can_be_made and _are_arguments("".join(self._pieces))

    @property
    def is_followed_up(self) -> bool:
        """Whether the answer has come to an end behind which the program does not wait for anybody.

        A call that cannot be made it answers by itself; an answer that says nothing it asks for once more.
        """
        if self._stop_reason is None:
            return False
        waits = self._can_be_made if self.calls else self._says_anything
        return not waits or self._stop_reason not in _ENDS


def outlined(message: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The blocks of a message in the same form; none for what the model has not said."""
    return [_kind(block) for block in message["content"]] if message.get("role") == "assistant" else []


def _kind(block: dict[str, Any]) -> tuple[Any, Any]:
    return block.get("type"), block.get("id")


def _are_arguments(text: str) -> bool:
    try:
        return not text or isinstance(_arguments.decode(text), dict)
    except (ValueError, RecursionError):
        return False
