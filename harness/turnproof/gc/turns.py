"""How a history hangs together: where turns begin, and which messages cannot do without which. All in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import accumulate, pairwise
from typing import TypeAlias

from ..budget import begins_turn
from ..messages import FunctionCall, Message, ToolResult

Links: TypeAlias = Mapping[int, Sequence[int]]
"""For a message's index the indexes of those that stay or go with it."""


def turn_starts(messages: Sequence[Message], *, except_for: Set[str] = frozenset()) -> list[int]:
    """Indexes at which turns begin: user messages with text.

    Everything up to the next such message belongs to the turn: answers, tool messages, instructions in
    mid-conversation, user messages that hold nothing but files. A collector's own notes begin no turn, and neither
    do messages whose ids are given.
    """
    return [
        index
        for index, message in enumerate(messages)
        if begins_turn(message) and not (except_for and message.message_id in except_for)
    ]


def links(messages: Sequence[Message]) -> Links:
    """What belongs together: a call and its result, an instruction in mid-conversation and the answer behind it.

    A result answers the latest call of its id.
    """
    found: dict[int, list[int]] = {}
    call_places: dict[str, int] = {}
    for index, message in enumerate(messages):
        for part in message.parts:
            if isinstance(part, FunctionCall):
                call_places[part.id] = index
            elif isinstance(part, ToolResult) and (call := call_places.get(part.call_id)) is not None:
                _link(found, call, index)
        if message.role == "model" and index and messages[index - 1].role == "system":
            _link(found, index - 1, index)
    return found


def _link(found: dict[int, list[int]], one: int, other: int) -> None:
    if one != other:
        found.setdefault(one, []).append(other)
        found.setdefault(other, []).append(one)


def whole_starts(starts: Iterable[int], linked: Links, length: int) -> list[int]:
    """Those of the turn starts at which a history of `length` messages can be cut in two without parting a pair."""
    change = [0] * (length + 1)
    for one, others in linked.items():
        for other in others:
            if one < other:
                change[one + 1] += 1
                change[other + 1] -= 1
    pairs_across = list(accumulate(change))
    return [start for start in starts if not pairs_across[start]]


def openings(starts: Sequence[int], length: int) -> list[int | None]:
    """For each message the index of the one that began its turn; None for what stands before the first turn."""
    opening: list[int | None] = [None] * (starts[0] if starts else length)
    for start, end in pairwise([*starts, length]):
        opening += [start] * (end - start)
    return opening


def connected(index: int, linked: Links) -> set[int]:
    """A message and all that directly or indirectly belongs to it."""
    found: set[int] = set()
    waiting = [index]
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting += linked.get(index, ())
    return found


def with_needed(indexes: Iterable[int], linked: Links, opening: Sequence[int | None]) -> set[int]:
    """These messages and all that they need to stand in a valid history.

    That is the other half of every pair, and the message that began the turn: an answer does not stand alone, and a
    conversation begins with the user.
    """
    found: set[int] = set()
    waiting = list(indexes)
    while waiting:
        index = waiting.pop()
        if index in found:
            continue
        found.add(index)
        waiting += linked.get(index, ())
        if (start := opening[index]) is not None:
            waiting.append(start)
    return found
