"""The conversation as the service sees it: neighbours of one role merged, each block with its original place.

Rules are applied to the merged turns; the numbers in their messages are the original ones.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Block = Mapping[str, Any]


class Placed(NamedTuple):
    """A block and its path, `messages.N.content.M`, in the messages as they came."""

    path: str
    block: Block

    @property
    def kind(self) -> str:
        return kind_of(self.block)


@dataclass(slots=True)
class MergedTurn:
    """Neighbouring messages of one role. `first` and `last` are the indexes of the messages it is made of."""

    role: str
    first: int
    last: int
    blocks: list[Block] = field(default_factory=list)
    starts: list[tuple[int, int]] = field(default_factory=list)
    """Where each message's blocks begin: (index in `blocks`, index of the message)."""

    def place(self, index: int) -> Placed:
        """The block with that index, with its original path."""
        start, message = self.starts[bisect_right(self.starts, index, key=_start) - 1]
        return Placed(f"messages.{message}.content.{index - start}", self.blocks[index])

    def blocks_of_type(self, *kinds: str) -> list[Placed]:
        """The blocks of these types, in order."""
        return [self.place(n) for n, block in enumerate(self.blocks) if block.get("type") in kinds]


def _start(entry: tuple[int, int]) -> int:
    return entry[0]


def kind_of(block: Block) -> str:
    """The type of a block."""
    return str(block.get("type"))


def blocks_of(content: object) -> Sequence[Block]:
    """The blocks of a message or system field; a string is one text block, an empty one none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


def merge_messages(messages: Sequence[Mapping[str, Any]]) -> list[MergedTurn]:
    """The messages as merged turns."""
    turns: list[MergedTurn] = []
    for n, message in enumerate(messages):
        role = message["role"]
        if not turns or turns[-1].role != role:
            turns.append(MergedTurn(role, n, n))
        turn = turns[-1]
        turn.last = n
        turn.starts.append((len(turn.blocks), n))
        turn.blocks += blocks_of(message.get("content"))
    return turns


def breakpoints(body: Mapping[str, Any]) -> Iterator[tuple[str, Block]]:
    """Every explicit breakpoint as (path, block that carries it), in prefix order: tools, system, messages."""
    for n, tool in enumerate(body.get("tools") or ()):
        if tool.get("cache_control"):
            yield f"tools.{n}", tool
    for n, block in enumerate(blocks_of(body.get("system"))):
        if block.get("cache_control"):
            yield f"system.{n}", block
    for n, message in enumerate(body["messages"]):
        for m, block in enumerate(blocks_of(message.get("content"))):
            if "cache_control" in block or block.get("type") == "tool_result":
                yield from _marks_in(f"messages.{n}.content.{m}", block)


def _marks_in(path: str, block: Block) -> Iterator[tuple[str, Block]]:
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        for k, item in enumerate(block["content"]):
            if isinstance(item, dict) and item.get("cache_control"):
                yield f"{path}.tool_result.content.{k}", item
    if block.get("cache_control"):
        yield path, block


def ttl_of(control: Mapping[str, Any]) -> str:
    """The life of a breakpoint: `5m` unless it says `1h`."""
    return "1h" if control.get("ttl") == "1h" else "5m"


def last_cacheable(body: Mapping[str, Any]) -> tuple[str, Block] | None:
    """Where a top-level `cache_control` puts its breakpoint: the last block that can carry one."""
    for n in range(len(body["messages"]) - 1, -1, -1):
        content = blocks_of(body["messages"][n].get("content"))
        for m in range(len(content) - 1, -1, -1):
            if is_cacheable(content[m]):
                return f"messages.{n}.content.{m}", content[m]
    for n, block in reversed(list(enumerate(blocks_of(body.get("system"))))):
        if is_cacheable(block):
            return f"system.{n}", block
    for n, tool in reversed(list(enumerate(body.get("tools") or ()))):
        return f"tools.{n}", tool
    return None


def is_cacheable(block: Block) -> bool:
    """Thinking and empty text cannot carry a breakpoint."""
    kind = block.get("type")
    return kind not in ("thinking", "redacted_thinking") and (kind != "text" or bool(block.get("text")))
