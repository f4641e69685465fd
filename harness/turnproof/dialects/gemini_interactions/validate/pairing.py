"""Calls and their results: each has the other. Only inferred: of this API no refusal was seen."""

from __future__ import annotations

from collections.abc import Iterator

from ...base import Refusal
from .. import rules
from ..steps import kind_of
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Each call has a result and each result a call, over the request and what the service held before."""
    calls: dict[object, None] = {}
    results: dict[object, None] = {}
    for step in (*context.carried, *(placed.item for placed in context.sent)):
        if kind_of(step) == "function_call":
            calls[step.get("id")] = None
        elif kind_of(step) == "function_result":
            results[step.get("call_id")] = None
    for call_id in calls:
        if call_id not in results:
            yield refuse(rules.DANGLING_CALL, f"The function call {call_id} has no function result.", "input")
    for call_id in results:
        if call_id not in calls:
            yield refuse(rules.ORPHAN_RESULT, f"No function call has the id {call_id}.", "input")
