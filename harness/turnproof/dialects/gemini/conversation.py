"""The conversation as the service sees it: neighbouring contents of one role are one turn.

Rules are applied to the turns; the numbers in their messages are those of the contents as they came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Content = Mapping[str, Any]


class Placed(NamedTuple):
    """A part and where it came: the index of its content (negative within a managed cache) and its own."""

    content: int
    number: int
    part: Mapping[str, Any]

    @property
    def path(self) -> str:
        return f"contents[{self.content}].parts[{self.number}]"


@dataclass(slots=True)
class Turn:
    """Neighbouring contents of one role, from index `first` to `last`."""

    role: Literal["user", "model"]
    first: int
    last: int
    parts: list[Placed] = field(default_factory=list)

    def parts_with(self, kind: str) -> list[Placed]:
        """The parts that hold this field, in order."""
        return [placed for placed in self.parts if kind in placed.part]


def role_of(content: Content) -> Literal["user", "model"]:
    """Who speaks. A content without a role is the user's, and so is the old form of function responses."""
    return "model" if content.get("role") == "model" else "user"


def turns(contents: Sequence[Content], managed: Sequence[Content] = ()) -> list[Turn]:
    """The turns of a conversation that begins with what a managed cache holds."""
    found: list[Turn] = []
    for n, content in enumerate((*managed, *contents), -len(managed)):
        role = role_of(content)
        if not found or found[-1].role != role:
            found.append(Turn(role, n, n))
        turn = found[-1]
        turn.last = n
        turn.parts += [Placed(n, m, part) for m, part in enumerate(content.get("parts") or ())]
    return found


def current(turns: Sequence[Turn]) -> Sequence[Turn]:
    """The turns after the last in which the user said or showed something: the running tool loop."""
    for n in range(len(turns) - 1, -1, -1):
        if turns[n].role == "user" and any("functionResponse" not in placed.part for placed in turns[n].parts):
            return turns[n + 1 :]
    return turns
