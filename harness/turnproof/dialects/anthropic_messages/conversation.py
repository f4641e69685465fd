"""The conversation as the service sees it: neighbours of one role merged, each block with its original place.

Rules are applied to the merged turns; the numbers in their messages are the original ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Block = Mapping[str, Any]


class Placed(NamedTuple):
    """A block and where it stood: message index, block index within it."""

    message: int
    number: int
    block: Block

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.number}"

    @property
    def kind(self) -> str:
        return str(self.block.get("type"))


@dataclass(slots=True)
class MergedTurn:
    """Neighbouring messages of one role. `first` and `last` are the indexes of the messages it is made of."""

    role: str
    first: int
    last: int
    blocks: list[Placed] = field(default_factory=list)

    def of(self, kind: str) -> list[Placed]:
        """The blocks of a type, in order."""
        return [each for each in self.blocks if each.block.get("type") == kind]


def blocks_of(content: object) -> Sequence[Block]:
    """The blocks of a message or system field; a string is one text block, an empty one none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


def merged(messages: Sequence[Mapping[str, Any]]) -> list[MergedTurn]:
    """The messages as merged turns."""
    turns: list[MergedTurn] = []
    for n, message in enumerate(messages):
        role = message["role"]
        if not turns or turns[-1].role != role:
            turns.append(MergedTurn(role, n, n))
        turn = turns[-1]
        turn.last = n
        content = message.get("content")
        if type(content) is list:
            turn.blocks += [Placed(n, m, block) for m, block in enumerate(content)]
        elif content:
            turn.blocks.append(Placed(n, 0, {"type": "text", "text": content}))
    return turns


def marks(body: Mapping[str, Any]) -> Iterator[tuple[str, Block]]:
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
