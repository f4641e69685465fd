"""Which result answers which call on the native API, where neither need have an id.

A call without an id gets one from its place (`#message.number`). A result without one answers the first open call of
its tool, or the first open one of any: the server itself pairs nothing, and older versions knew no ids at all. Calls in
neighbouring messages of the model are calls of one answer, which a client may send in a message each.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from ...messages import FunctionCall, ToolResult

_POSITIONAL = re.compile(r"#\d+\.\d+")


def is_positional(call_id: str) -> bool:
    """Whether an id was made here from a call's place: it never stood on the wire."""
    return _POSITIONAL.fullmatch(call_id) is not None


class Pairing:
    """Goes through a conversation message by message, in order."""

    def __init__(self) -> None:
        self._open: list[FunctionCall] = []

    def add_calls(self, n: int, calls: list[FunctionCall], *, continues: bool) -> list[FunctionCall]:
        """The calls of message `n`, each with an id; those of an earlier message are no longer open, unless this one
        `continues` it."""
        found = [each if each.id else replace(each, id=f"#{n}.{k}") for k, each in enumerate(calls)]
        self._open = [*(self._open if continues else ()), *found]
        return found

    def with_call_id(self, result: ToolResult) -> ToolResult:
        """The result with the id and the tool of its call, as far as there is one."""
        if result.call_id:
            same_id = [each for each in self._open if each.id == result.call_id]
        else:
            same_id = [each for each in self._open if each.name == result.name] or list(self._open)
        if not same_id:
            return result
        self._open.remove(same_id[0])
        return replace(result, call_id=same_id[0].id, name=result.name or same_id[0].name)
