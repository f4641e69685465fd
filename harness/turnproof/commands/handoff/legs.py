"""The legs of a journey: each is an ordinary run of a part of the conversation, and what came before is its history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from ...messages import Message, Thought
from ...provider import Capabilities
from ...run.transcript import HistorySnapshot, Transcript
from ...scenarios.model import Scenario, ScriptRound, Turn


@dataclass(frozen=True, slots=True)
class Stretch:
    """The turns of one leg: from `first` up to, and without, `end`, counted from 0."""

    first: int
    end: int


def stretches(after: int, turns: int) -> tuple[Stretch, Stretch, Stretch]:
    """There after `after` turns, for one turn, and back for the rest."""
    return Stretch(0, after), Stretch(after, after + 1), Stretch(after + 1, turns)


def places(scenario: Scenario) -> range:
    """After how many turns a conversation can change hands and still come back."""
    return range(1, len(scenario.turns) - 1)


def part_of(
    scenario: Scenario, stretch: Stretch, name: str, history: Sequence[Message], claims: Capabilities
) -> Scenario:
    """That stretch as a scenario of its own. A model that does not claim to think says the same without thinking."""
    turns = scenario.turns[stretch.first : stretch.end]
    return replace(
        scenario,
        name=name,
        system=scenario.system_in(stretch.first),
        tools=scenario.tools_in(stretch.first),
        turns=turns if claims.thinking else tuple(map(_without_thinking, turns)),
        given=tuple(history),
        options=scenario.options if claims.thinking else _without(scenario.options, "thinking"),
        features=tuple(feature for feature in scenario.features if feature != "thinking"),
        probes=(),
        sweep=None,
    )


def history_after(transcript: Transcript, mark: str) -> tuple[Message, ...]:
    """What the session held in the end. `mark` tells the ids of these messages from those of the next leg's."""
    histories = [event.messages for event in transcript.of(HistorySnapshot) if event.owner == "session"]
    return tuple(
        replace(message, message_id=f"{mark}{message.message_id}") for message in (histories[-1] if histories else ())
    )


def _without_thinking(turn: Turn) -> Turn:
    return replace(
        turn, rounds=tuple(replace(each, parts=tuple(_parts_without_thoughts(each))) for each in turn.rounds)
    )


def _parts_without_thoughts(answer: ScriptRound) -> Iterator[object]:
    return (part for part in answer.parts if not isinstance(part.part, Thought))


def _without(options: dict[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in options.items() if key != name}
