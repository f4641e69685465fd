"""Histories of agents that keep each result of a tool as a message of its own, and their turns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from turnproof.messages import Message, ToolResult

Item = TypeVar("Item")


def joined_results(history: Iterable[Message | ToolResult]) -> Iterator[Message]:
    """The messages in their order. Results that follow each other become one message, as the contract has it."""
    results: list[ToolResult] = []
    for one in history:
        if isinstance(one, ToolResult):
            results.append(one)
            continue
        if results:
            yield Message.tool(*results)
            results = []
        yield one
    if results:
        yield Message.tool(*results)


def up_to_turn(items: Sequence[Item], turn: int, begins: Callable[[Item], bool]) -> Sequence[Item]:
    """What is held up to the end of a turn, counted from 0; each begins with a message of the user's.

    Raises IndexError for a turn that there is not.
    """
    starts = [place for place, one in enumerate(items) if begins(one)]
    if turn >= len(starts):
        raise IndexError(f"there is no turn {turn}")
    return items[: (*starts, len(items))[turn + 1]]
