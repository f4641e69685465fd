"""A scenario as the plain data of its file: the names of its pieces, and what can be read from them.

For whoever makes scenarios by program; the loader says whether they make sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]
"""The data of a scenario's file."""

Turn: TypeAlias = dict[str, Any]
"""One of its turns."""

Round: TypeAlias = Any
"""One answer of the model: a list of parts, or a mapping with `parts` and how it ends."""

Part: TypeAlias = Any
"""A part of an answer: a text, or a mapping that says what it is."""


def parts_of(answer: Round) -> Sequence[Any]:
    """The parts of an answer."""
    parts: Sequence[Any] = answer["parts"] if isinstance(answer, dict) else answer
    return parts


def calls_of(answer: Round) -> list[dict[str, Any]]:
    """The whole calls of an answer."""
    return [part for part in parts_of(answer) if isinstance(part, dict) and "call" in part and "broken" not in part]


def running(answer: Round) -> list[dict[str, Any]]:
    """Those of the calls for which there is a tool that runs."""
    return [call for call in calls_of(answer) if "unknown" not in call]


def events(answer: Round) -> list[str]:
    """The events of a streamed answer that are there for certain, by the names that cancels and faults wait for."""
    counts = {"text": 0, "thinking": 0, "args": 0, "call": len(calls_of(answer))}
    for part in parts_of(answer):
        match part:
            case str():
                counts["text"] += bool(part)
            case {"text": text}:
                counts["text"] += len(text)
            case {"thinking": [*thought]}:
                counts["thinking"] += len(thought)
            case {"call": _, "pieces": [*cut]} if "broken" not in part:  # which not every API has
                counts["args"] += sum(map(bool, cut))
    return ["start:1", *(f"{kind}:{n}" for kind, most in counts.items() for n in range(1, most + 1))]


def pauses(answers: Sequence[Round]) -> bool:
    """Whether the service pauses in one of these answers."""
    return any(isinstance(answer, dict) and answer.get("finish") == "paused" for answer in answers)
