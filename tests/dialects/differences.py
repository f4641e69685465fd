"""What a table of differences is made of: conversations as a session holds them and as they were sent.

The requests of the tables are written out by hand: an encoder of ours could share a mistake with the comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from turnproof import messages as m
from turnproof.dialects.base import WireDifference, World
from turnproof.dialects.contract import Dialect

from .histories import CALL, HELD_LOOP, OPENING, RESULT, THANKS
from .parts import model, user
from .requests import Json, Sendable, read_call


@dataclass(frozen=True)
class Case:
    """What is held, what was sent, and the differences that are reported, in their order (none, where it is right).

    `wire` are further fields of the body, `allows` is the listed difference that makes it right, and `model` the model
    that the session has, where it is not the usual one.
    """

    id: str
    history: Sequence[m.Message]
    sent: Sequence[Json]
    expect: tuple[str, ...] = ()
    system: m.Part | str | None = None
    tools: Sequence[m.ToolSchema] = ()
    wire: Json = field(default_factory=dict)
    model: str | None = None
    allows: str = ""


def right_cases_of_items(
    user_item: Callable[..., Json], model_item: Callable[[str], Json], call: Json, result: Json
) -> tuple[Case, ...]:
    """Right conversations with an API whose requests are lists of typed items; `call` and `result` are those of
    `HELD_LOOP`."""
    question, thanks = user_item("How moist is bed 3?"), user_item("Thanks")
    loop = (question, model_item("Let me look."), call, result)
    return (
        Case("plain", [OPENING, model("41 %"), THANKS], [question, model_item("41 %"), thanks]),
        Case("loop", HELD_LOOP, loop),
        Case("merged-users", [OPENING, THANKS], [user_item("How moist is bed 3?", "Thanks")], allows="merged-roles"),
        Case(
            "results-first",
            [*HELD_LOOP[:2], user("While you look:"), HELD_LOOP[2]],
            [*loop, user_item("While you look:")],
            allows="results-first",
        ),
        Case("joined-texts", [user("Hello", "there")], [user_item("Hello\n\nthere")], allows="joined-text"),
        Case(
            "blank-texts",
            [user("Hello", ""), model(" \n", CALL), m.Message.tool(RESULT)],
            [user_item("Hello"), call, result],
            allows="blank-text",
        ),
    )


def find_by(
    dialect: Dialect, model: str, request: Callable[[Case], Sendable], world: Callable[[], World]
) -> Callable[[Case], list[WireDifference]]:
    """What finds the differences of a case, whose `request` the dialect reads in this world."""

    def find(case: Case) -> list[WireDifference]:
        sent = read_call(dialect, request(case), world())
        return dialect.differences(case.history, case.system, case.tools, sent, case.model or model)

    return find


@dataclass(frozen=True)
class DifferenceKit:
    """The conversations of one dialect: right ones, those with a loss or an invention, and those nobody classified.

    `wire_turn` writes what the user says and what the model answers. `allows_all`: each difference that the dialect
    allows has a right conversation of its own.
    """

    dialect: Dialect
    find: Callable[[Case], list[WireDifference]]
    right: Sequence[Case]
    wrong: Sequence[Case]
    unlisted: Sequence[Case] = ()
    wire_turn: tuple[Callable[[str], Json], Callable[[str], Json]] | None = None
    allows_all: bool = True

    @property
    def name(self) -> str:
        return self.dialect.name
