"""Explicit breakpoints as the Messages API takes them: at most four, in the order tools, system, messages.

A breakpoint stores one entry: everything up to it. A later request finds that entry only at one of its own
breakpoints or up to 20 positions before one (https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
A turn with many parallel calls and long answers can be wider than that, so the place where the previous request
ended is marked again beside the new end: the entry written last is then found without any looking back. That
place needs no memory: whatever the model said last was answered to exactly the messages before it.

With a budget there is one more place: the end of the messages that no collection takes away, if these alone are
worth caching. What is cached up to there is found again when everything behind it has changed. Where that would be one
too many, the tools go without: the breakpoint of the system text covers them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from .. import messages as m
from ..cancel import CancelToken
from ..provider import system_text
from ._estimate import Estimate
from ._plugin import BasePlugin, Covers, Prepared, Settings, settings

if TYPE_CHECKING:
    from ..budget import InstructionBudget

MOST_MARKS = 4
"""How many breakpoints the API takes in one request."""

DEFAULT_MINIMUM_TOKENS = 1024
"""The smallest prefix that most models cache. A mark below a model's own minimum costs nothing and stores nothing."""


class _ExplicitSettings(Settings, frozen=True, kw_only=True):
    ttl: Literal["5m", "1h"] = "5m"
    minimum_tokens: Annotated[int, msgspec.Meta(ge=0)] = DEFAULT_MINIMUM_TOKENS


class ExplicitCachePlugin(BasePlugin):
    """Marks the last tool, the system text, the end of the previous request, and the end of this one.

    `ttl` is the life of an entry since its last use. A prefix that is surely below `minimum_tokens` is not marked.
    The messages given are expected to carry no marks of their own.
    """

    name = "explicit"
    provider_name = "anthropic"
    covers: Covers = "conversation"

    def __init__(self, *, ttl: Literal["5m", "1h"] = "5m", minimum_tokens: int = DEFAULT_MINIMUM_TOKENS) -> None:
        # Marking makes a new object; handing out the same one again lets adapters keep its encoding. Holds no request:
        # an entry goes when the session drops the message.
        self._copies: WeakKeyDictionary[m.Message, m.Message] = WeakKeyDictionary()
        self._budget: InstructionBudget | None = None
        self.initialize({"ttl": ttl, "minimum_tokens": minimum_tokens})

    def initialize(self, config: Mapping[str, Any]) -> None:
        """Take `ttl` ("5m" or "1h") and `minimum_tokens`; what is left out has its default."""
        found = settings(_ExplicitSettings, config, self.name)
        self._breakpoint = m.CacheMark(found.ttl)
        self._minimum = found.minimum_tokens
        self._copies.clear()

    def set_budget(self, budget: InstructionBudget | None) -> None:
        """Keep a breakpoint at the end of what this budget lets no collection take."""
        self._budget = budget

    def _mark(self, request: Prepared, token: CancelToken) -> Prepared:
        """The request with up to four marks."""
        messages, system, ordered = request.messages, request.system, list(request.tools)
        text = system_text(system)
        places = self._ends(messages)
        places = self._stable_end(messages, places) + places
        size = Estimate()
        for tool in ordered:
            size.add_tool(tool)
        if ordered and size.reaches(self._minimum) and len(places) + bool(text.strip()) < MOST_MARKS:
            ordered[-1] = m.marked(ordered[-1], self._breakpoint)
        size.add_text(text)
        if text.strip() and size.reaches(self._minimum):
            system = (
                m.marked(system, self._breakpoint)
                if isinstance(system, m.Text)
                else m.Text(text, cache=self._breakpoint)
            )
        annotated = list(messages)
        for position in places:
            if size.reaches(self._minimum, islice(messages, position + 1)):
                annotated[position] = self._copy(annotated[position])
        return Prepared(tuple(annotated), system, tuple(ordered))

    def _ends(self, messages: Sequence[m.Message]) -> list[int]:
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

    def _stable_end(self, messages: Sequence[m.Message], ends: Sequence[int]) -> list[int]:
        """Where the messages end that stay, if they are many tokens, and not one of the ends or behind them."""
        if self._budget is None:
            return []
        last = _markable_before(messages, self._budget.stable_head(messages))
        if last is None or last >= ends[0] or not Estimate().reaches(self._minimum, islice(messages, last + 1)):
            return []
        return [last]

    def _copy(self, message: m.Message) -> m.Message:
        copy = self._copies.get(message)
        if copy is None:
            copy = self._copies[message] = _with_mark(message, self._breakpoint)
        return copy


def _last_answer(messages: Sequence[m.Message]) -> int | None:
    """Index of the latest model message. A message that ends the request is its own end, not an earlier answer."""
    return next((n for n in range(len(messages) - 2, -1, -1) if messages[n].role == "model"), None)


def _markable_before(messages: Sequence[m.Message], end: int) -> int | None:
    return next((n for n in range(end - 1, -1, -1) if any(map(_markable, messages[n].parts))), None)


def _markable(part: m.Part) -> bool:
    # Thinking cannot carry a breakpoint, blank text never reaches the wire, and unknown blocks stay as they are.
    match part:
        case m.Text(text=text):
            return bool(text.strip())
        case m.ToolResult() | m.FunctionCall() | m.InlineData() | m.FileRef():
            return True
        case _:
            return False


def _with_mark(message: m.Message, mark: m.CacheMark) -> m.Message:
    parts = list(message.parts)
    for n in range(len(parts) - 1, -1, -1):
        part = parts[n]
        if _markable(part):
            parts[n] = replace(part, cache=mark)
            break
    return m.Message(message.role, tuple(parts), message.message_id)
