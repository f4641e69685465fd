"""A conversation as one row of parts, the differences of two JSON values, and the places of both in a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from turnproof import messages as m
from turnproof.judge.finding import Place
from turnproof.judge.view import Exchange
from turnproof.judge.view.diff import ABSENT, Steps, equal, walk_steps
from turnproof.judge.view.plain_content import plain


def part_row(messages: Iterable[m.Message]) -> list[m.JSON]:
    """A conversation as one row of parts, each with its role: on a wire that joins neighbours, messages say nothing."""
    return [{"role": message["role"], **part} for message in plain(messages) for part in message["parts"]]


_PLAIN_FIELDS = {
    "call": "id",
    "result": "call_id",
    "value": "result",
    "error": "is_error",
    "attached": "attachments",
    "thought": "text",
}
"""What the fields of plain parts are called in messages, where it is something else."""


def place_in_row(messages: Sequence[m.Message], steps: Steps) -> Steps | None:
    """Where in some messages that stands which `part_row` has at these steps: `(3, "parts", 1, "text")`.

    None where they have no such item. Of texts that a row joins it is the first.
    """
    if not steps or not isinstance(steps[0], int):
        return None
    left = steps[0]
    for number, message in enumerate(messages):
        for place in range(len(message.parts)):
            count = len(part_row([m.Message(message.role, message.parts[: place + 1])]))
            if count > left:
                return number, *_in_message(place, steps[1:])
        left -= len(part_row([message]))
    return None


def at_row(exchange: Exchange, steps: Steps) -> Place:
    """The place in a request's body of what stands at these steps in the `part_row` of its messages."""
    found = place_in_row(exchange.call.messages, steps) if exchange.call is not None else None
    return exchange.at_read("messages", *(found or ()))


def _in_message(place: int, steps: Steps) -> Steps:
    """Where in a message that stands which its plain form has at these steps of a part."""
    if steps[:1] == ("role",):
        return ("role",)
    if not steps or steps[0] == "media":
        return "parts", place
    return "parts", place, _PLAIN_FIELDS.get(str(steps[0]), steps[0]), *steps[1:]


def continued_row(messages: Iterable[m.Message]) -> list[m.JSON]:
    """The row of a request as a later one begins: without a text of the model at its end, which was paused there."""
    parts = part_row(messages)
    return parts[:-1] if parts and parts[-1]["role"] == "model" else parts


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A place where a JSON value is not what was expected. UNSET stands for what is not there.

    `steps` lead to the place in the observed value; to what should have held it, where it lacks something.
    """

    steps: Steps
    expected: object
    observed: object


def value_differences(expected: m.JSON, observed: m.JSON) -> Iterator[ValueDifference]:
    """Every place where two JSON values differ."""
    if equal(expected, observed):
        return
    for steps, found, value in walk_steps(observed, expected):
        lacking = found is ABSENT
        yield ValueDifference(
            steps[:-1] if lacking else steps, UNSET if value is ABSENT else value, UNSET if lacking else found
        )
