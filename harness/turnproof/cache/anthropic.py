"""Explicit breakpoints as the Messages API takes them: at most four, in the order tools, system, messages.

A breakpoint stores one entry: everything up to it. A later request finds that entry only at one of its own
breakpoints or up to 20 positions before one (https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
A turn with many parallel calls and long answers can be wider than that, so the place where the previous request
ended is marked again beside the new end: the entry written last is then found without any looking back. That
place needs no memory: whatever the model said last was answered to exactly the messages before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from ..messages import (
    CacheMark,
    FileRef,
    FunctionCall,
    InlineData,
    Message,
    Part,
    Text,
    TokenUsage,
    ToolResult,
    ToolSchema,
    marked,
)
from ..provider import SystemInstruction
from ._estimate import Estimate
from ._plugin import CacheUsage, Prepared

DEFAULT_MINIMUM_TOKENS = 1024
"""The smallest prefix that most models cache. A mark below a model's own minimum costs nothing and stores nothing."""


class AnthropicCachePlugin:
    """Marks the last tool, the system text, the end of the previous request, and the end of this one.

    `ttl` is the life of an entry since its last use. A prefix that is surely below `minimum_tokens` is not marked.
    `invalidations` counts the collections that took cached messages away. The messages given are expected to carry
    no marks of their own.
    """

    name = "anthropic"

    def __init__(self, *, ttl: Literal["5m", "1h"] = "5m", minimum_tokens: int = DEFAULT_MINIMUM_TOKENS) -> None:
        self.invalidations = 0
        self._mark = CacheMark(ttl)
        self._minimum = minimum_tokens
        # Marking makes a new object; handing out the same one again lets adapters keep its encoding. Holds no request:
        # an entry goes when the session drops the message.
        self._copies: WeakKeyDictionary[Message, Message] = WeakKeyDictionary()

    def prepare(
        self, messages: Sequence[Message], system: SystemInstruction, tools: Sequence[ToolSchema] | None
    ) -> Prepared:
        """The request with up to four marks. Tools come back in the order in which they go on the wire, by name."""
        size = Estimate()
        ordered = sorted(tools or (), key=lambda tool: tool.name)
        for tool in ordered:
            size.add_tool(tool)
        if ordered and size.reaches(self._minimum):
            ordered[-1] = marked(ordered[-1], self._mark)
        text = system if isinstance(system, str) else system.text if system is not None else ""
        size.add_text(text)
        if text.strip() and size.reaches(self._minimum):
            system = marked(system, self._mark) if isinstance(system, Text) else Text(text, cache=self._mark)
        annotated = list(messages)
        for position in self._ends(annotated):
            if size.reaches(self._minimum, annotated[: position + 1]):
                annotated[position] = self._copy(annotated[position])
        return Prepared(tuple(annotated), system, tuple(ordered))

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        """`prompt_tokens` counts everything; what was neither read nor written was paid in full."""
        return CacheUsage.of(usage)

    def on_collected(self, before: Sequence[Message], after: Sequence[Message]) -> None:
        """Counts an invalidation unless `after` merely continues `before`."""
        if list(after[: len(before)]) != list(before):
            self.invalidations += 1

    def lost(self, name: str) -> bool:
        """False: the service finds entries by their content, so there is no name to lose."""
        return False

    def _ends(self, messages: Sequence[Message]) -> list[int]:
        """Where this request and the one before it end: at most two positions, ascending."""
        ends = []
        last = _markable_before(messages, len(messages))
        if last is not None:
            ends.append(last)
            answer = _last_answer(messages)
            previous = _markable_before(messages, answer) if answer is not None else None
            if previous is not None and previous != last:
                ends.insert(0, previous)
        return ends

    def _copy(self, message: Message) -> Message:
        copy = self._copies.get(message)
        if copy is None:
            copy = self._copies[message] = _with_mark(message, self._mark)
        return copy


def _last_answer(messages: Sequence[Message]) -> int | None:
    """Index of the latest model message. A message that ends the request is its own end, not an earlier answer."""
    return next((n for n in range(len(messages) - 2, -1, -1) if messages[n].role == "model"), None)


def _markable_before(messages: Sequence[Message], end: int) -> int | None:
    return next((n for n in range(end - 1, -1, -1) if any(map(_markable, messages[n].parts))), None)


def _markable(part: Part) -> bool:
    # Thinking cannot carry a breakpoint, blank text never reaches the wire, and unknown blocks stay as they are.
    match part:
        case Text(text=text):
            return bool(text.strip())
        case ToolResult() | FunctionCall() | InlineData() | FileRef():
            return True
        case _:
            return False


def _with_mark(message: Message, mark: CacheMark) -> Message:
    parts = list(message.parts)
    for n in range(len(parts) - 1, -1, -1):
        part = parts[n]
        if _markable(part):
            parts[n] = replace(part, cache=mark)
            break
    return Message(message.role, tuple(parts), message.message_id)
