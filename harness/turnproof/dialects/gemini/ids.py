"""Which response answers which call, also where the model gave its calls no ids.

A call without an id gets one from its place (`#turn.number`), and a response without an id that of the call it stands
for: among the calls of the turn before that have none and are not answered yet, the first of the same name, else the
first. Where a call has an id, a response without one is linked to nothing: the id had to come back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from ...messages import FunctionCall, Part, ToolResult

_POSITIONAL = re.compile(r"#\d+\.\d+")


def is_positional(call_id: str) -> bool:
    """Whether an id was made here from a call's place: it never stood on the wire."""
    return _POSITIONAL.fullmatch(call_id) is not None


class Pairing:
    """Goes through a conversation turn by turn, in order."""

    def __init__(self) -> None:
        self._turn = 0
        self._waiting: list[FunctionCall] = []

    def of_model(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """The parts of a turn of the model, each call with an id."""
        found: list[Part] = []
        calls = 0
        for part in parts:
            if isinstance(part, FunctionCall):
                part = part if part.id else replace(part, id=f"#{self._turn}.{calls}")
                calls += 1
            found.append(part)
        self._turn += 1
        self._waiting = [part for part in found if isinstance(part, FunctionCall) and is_positional(part.id)]
        return tuple(found)

    def of_user(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        """The parts of a turn of the user, each response with the id of its call, as far as there is one."""
        found = tuple(
            self._linked(part) if isinstance(part, ToolResult) and not part.call_id else part for part in parts
        )
        self._turn += 1
        return found

    def _linked(self, result: ToolResult) -> ToolResult:
        alike = [call for call in self._waiting if call.name == result.name] or list(self._waiting)
        if not alike:
            return result
        self._waiting.remove(alike[0])
        return replace(result, call_id=alike[0].id)
