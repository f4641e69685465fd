"""How small the model's window is: large enough for every turn alone, and often too small for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st

from ...messages import Message, Text, ToolResult
from ...tokens import message_tokens, text_tokens, tool_tokens
from ..documents import Document
from ..loader import from_data
from ..model import Scenario, ToolScript, Turn

_FRAME: Final = 8
"""Tokens that a service may add for a part."""

_CALL: Final = 32
"""Tokens that it may add for a tool, its call and its result: an id, a name made legal, JSON around all of it."""


@st.composite
def windows(draw: st.DrawFn, document: Document) -> int:
    """Tokens of a window in which every turn has room that has forgotten those before it."""
    scenario = from_data(document, "explored/measured")
    largest = max(_tokens(turn) for turn in scenario.turns)
    return _fixed_tokens(scenario) + largest + draw(st.integers(0, largest // 2))


def _fixed_tokens(scenario: Scenario) -> int:
    """What every request has: the longest system text, and all tools that are ever declared."""
    systems = [scenario.system or "", *(turn.system or "" for turn in scenario.turns)]
    tools = [*scenario.tools, *(tool for turn in scenario.turns for tool in turn.tools or ())]
    return max(map(text_tokens, systems)) + sum(tool_tokens(tool) + _CALL for tool in tools) + _FRAME


def _tokens(turn: Turn) -> int:
    """What a turn takes at the most, with what its tools return."""
    return sum(message_tokens(one) + _FRAME * len(one.parts) + _CALL * _paired(one) for one in messages_of(turn))


def _paired(message: Message) -> int:
    return len(message.calls) + len(message.results)


def messages_of(turn: Turn) -> Iterator[Message]:
    """All that is said in a turn, each result in a message of its own."""
    yield Message("user", turn.user)
    if turn.interject is not None:
        yield Message("user", (Text(turn.interject.text),))
    for answer in turn.rounds:
        message = Message("model", tuple(one.part for one in answer.parts))
        yield message
        for call in message.calls:
            script = turn.results.get(call.name, ToolScript()).for_args(call.args)
            result = script.result if script.error is None else script.error
            yield Message("tool", (ToolResult(call.id, call.name, result, attachments=script.attachments),))
