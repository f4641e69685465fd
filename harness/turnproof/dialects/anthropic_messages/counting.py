"""A request as the row of cells that is counted and cached: tools, then system, then messages.

Two requests that mean the same to the service give the same cells: a string is one text block, breakpoints are no
content, and a `caller` or an `is_error` that only spells out the default does not count. The order of keys within
a block is free, within tool input and schemas it is not (they are rendered as they stand).

The prompt cache of this API has a minimum by model, 20 positions of lookback, and lives of 5 minutes and 1 hour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ...tokens import DOCUMENT_TOKENS, IMAGE_TOKENS, json_tokens, text_tokens
from ..base import Call, ModelFacts, PromptUsage
from ..prefix_cache import Cell, PrefixStore, Ttl, kept_for_the_latest
from .conversation import Block, blocks_of, is_cacheable, ttl_of

TAIL_TOKENS = 3
"""What stands after the last block (the opening of the answer): 2 to 6 tokens were recorded, usually 3."""

_BLOCK_TOKENS = 2
_TOOL_TOKENS = 8
_RUNS = ("tool_use", "tool_result")
_encode = msgspec.json.Encoder().encode


def count(call: Call) -> int:
    """Tokens of the whole prompt, cached or not."""
    return sum(cell.tokens for cell in cells(call.body)) + TAIL_TOKENS


@kept_for_the_latest
def cells(body: Mapping[str, Any]) -> Sequence[Cell]:
    """The prompt's cells in prefix order, with positions and breakpoints. Not to be changed.

    A run of `tool_use` blocks is one position, a run of `tool_result` blocks too. Weightless cells between the
    sections carry the settings that invalidate what follows them.
    """
    row = _Row()
    _tools(row, body)
    before_system = row.add(Cell(b"", 0, row.position), markable=False)
    for block in blocks_of(body.get("system")):
        row.position += 1
        row.add(_cell(block, b"system", row.position), markable=is_cacheable(block))
    before_messages = row.add(Cell(b"", 0, row.position), markable=False)
    _messages(row, body)
    before_system.content = b"system\0" + _system_salt(body, row.cited)
    before_messages.content = b"messages\0" + _messages_salt(body, row.images)
    automatic = _mark(body)
    if automatic is not None and row.markable is not None:
        row.markable.mark = row.markable.mark or automatic
    return row.cells


class _Row:
    """The cells so far, the last one that could carry a breakpoint, and what was seen on the way."""

    __slots__ = ("cells", "cited", "images", "markable", "position")

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.markable: Cell | None = None
        self.position = 0
        self.images = False
        self.cited = False

    def add(self, cell: Cell, *, markable: bool) -> Cell:
        self.cells.append(cell)
        if markable:
            self.markable = cell
        return cell

    def notice(self, block: Block) -> None:
        """Images anywhere, and citations switched on: both decide about cached prefixes."""
        kind = block.get("type")
        self.images = self.images or kind == "image"
        self.cited = self.cited or (kind == "document" and block.get("citations") == {"enabled": True})


def _tools(row: _Row, body: Mapping[str, Any]) -> None:
    for tool in body.get("tools") or ():
        if _is_web_search(tool):
            continue  # Switching web search spares the tools' part of the prefix.
        content = _encode({key: tool[key] for key in sorted(tool) if key != "cache_control"})
        row.position += 1
        row.add(Cell(content, (len(content) + 3) // 4 + _TOOL_TOKENS, row.position, _mark(tool)), markable=True)


def _is_web_search(tool: Mapping[str, Any]) -> bool:
    return str(tool.get("type", "")).startswith("web_search")


def _system_salt(body: Mapping[str, Any], cited: bool) -> bytes:
    web_search = [tool for tool in body.get("tools") or () if _is_web_search(tool)]
    return _encode([web_search, cited, body.get("speed")])


def _messages_salt(body: Mapping[str, Any], images: bool) -> bytes:
    output = body.get("output_config")
    effort = output.get("effort") if isinstance(output, dict) else None
    choice = body.get("tool_choice")
    return _encode([None if choice == {"type": "auto"} else choice, body.get("thinking"), effort, images])


def _messages(row: _Row, body: Mapping[str, Any]) -> None:
    run: tuple[str, str] | None = None
    for message in body["messages"]:
        role = message["role"]
        prefix = role.encode()
        for block in blocks_of(message.get("content")):
            kind = block.get("type", "")
            current = (role, kind) if kind in _RUNS else None
            if current is None or current != run:
                row.position += 1
            run = current
            if kind == "tool_result":
                _result(row, block)
            elif kind == "text":
                row.add(_cell(block, prefix, row.position), markable=bool(block.get("text")))
            else:
                row.notice(block)
                row.add(_cell(block, prefix, row.position), markable=is_cacheable(block))


def _result(row: _Row, block: Block) -> None:
    """A result's frame and each block inside it: a breakpoint may stand on any of them."""
    frame = _encode([block.get("tool_use_id"), block.get("is_error") is True])
    row.add(Cell(b"result\0" + frame, (len(frame) + 3) // 4, row.position), markable=False)
    for item in blocks_of(block.get("content")):
        row.notice(item)
        row.add(_cell(item, b"result", row.position), markable=False)
    row.add(Cell(b"/result", _BLOCK_TOKENS, row.position, _mark(block)), markable=True)


def _cell(block: Block, role: bytes, position: int) -> Cell:
    kind = block.get("type")
    if kind == "text" and "citations" not in block:
        text = block.get("text", "").encode()
        mark = _mark(block) if "cache_control" in block else None
        return Cell(b"%b\0%b" % (role, text), (len(text) + 3) // 4 + _BLOCK_TOKENS, position, mark)
    fields = {key: block[key] for key in sorted(block) if key != "cache_control" and not _is_default(key, block[key])}
    content = role + b"\0" + _encode(fields)
    return Cell(content, _weight(block, fields) + _BLOCK_TOKENS, position, _mark(block))


def _is_default(key: str, value: object) -> bool:
    return (key == "caller" and value == {"type": "direct"}) or (key == "citations" and not value)


def _weight(block: Block, fields: Mapping[str, Any]) -> int:
    match block:
        case {"type": "image"}:
            return IMAGE_TOKENS
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return text_tokens(text)
        case {"type": "document", "source": {"type": "base64" | "url" | "file"}}:
            return DOCUMENT_TOKENS
        case {"type": "thinking", "thinking": str(text)}:
            return text_tokens(text)
        case _:
            return json_tokens(fields)


def _mark(thing: Mapping[str, Any]) -> Ttl | None:
    control = thing.get("cache_control")
    if not isinstance(control, dict):
        return None
    return "1h" if ttl_of(control) == "1h" else "5m"


LOOKBACK = 20
"""Positions looked back from a breakpoint, which counts as one of them (documentation, `anthropic.md` §7)."""


class MessagesCache:
    """One run's cache. Caches are kept per model; an alias and its dated id share one."""

    def __init__(self) -> None:
        self._store = PrefixStore(lookback=LOOKBACK)

    def account(self, call: Call, facts: ModelFacts, now: float) -> tuple[PromptUsage, Callable[[], None]]:
        """How the prompt is counted at `now`, and the function to call when the response has begun."""
        return self._store.account_for(cells(call.body), facts, now, tail=TAIL_TOKENS)
