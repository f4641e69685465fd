"""What a conversation is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal
from uuid import uuid4


@dataclass(frozen=True)
class Call:
    """The bot wants a tool to be run."""

    id: str
    tool: str
    input: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a tool said to a call."""

    call_id: str
    tool: str
    text: str
    failed: bool = False


@dataclass(frozen=True)
class Note:
    """One step of a conversation: what the human said, what the bot said and called, or what its tools said."""

    who: Literal["human", "bot", "tools"]
    text: str = ""
    calls: tuple[Call, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    id: str = field(default_factory=lambda: uuid4().hex)


@dataclass(frozen=True)
class Tool:
    """What the bot may call. `run` returns text, or raises."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], str]


@dataclass(frozen=True)
class Answer:
    """What came of asking a model once. `note` is None where it said nothing at all."""

    note: Note | None
    tokens_in: int = 0
    tokens_out: int = 0
    stopped: bool = False


def to_json(note: Note) -> dict[str, Any]:
    """A note as plain data."""
    return asdict(note)


def from_json(data: dict[str, Any]) -> Note:
    """The inverse of `to_json`."""
    calls = tuple(Call(**call) for call in data["calls"])
    outcomes = tuple(Outcome(**outcome) for outcome in data["outcomes"])
    return Note(data["who"], data["text"], calls, outcomes, data["id"])
