"""Calls and their outputs: each has the other, wherever in the conversation that is."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..items import kind_of
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Each call of a function has an output, each output a call, over the request and what the service held before."""
    call_places: dict[str, int] = {}
    output_places: dict[str, int] = {}
    for n, item in enumerate((*context.carried, *(placed.item for placed in context.sent))):
        call_id = item.get("call_id")
        if not isinstance(call_id, str):
            continue
        if kind_of(item) == "function_call":
            call_places.setdefault(call_id, n)
        elif kind_of(item) == "function_call_output":
            output_places.setdefault(call_id, n)
    for call_id in call_places:
        if call_id not in output_places:
            yield refuse(rules.DANGLING_CALL, f"No tool output found for function call {call_id}.", "input")
    for call_id, n in output_places.items():
        message = f"No tool call found for function call output with call_id {call_id}."
        if call_id not in call_places:
            yield refuse(rules.ORPHAN_OUTPUT, message, "input")
        elif n < call_places[call_id]:
            yield refuse(rules.OUTPUT_BEFORE_CALL, message, "input")
