"""Calls and results: every call answered in the next turn, first thing, once; nothing answered that was not asked.

Judged on merged turns. `system` turns between a call and its results do not occur: their placement is refused.
The same id in different turns is accepted; only one assistant turn may not use it twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...base import Refusal, Rule
from .. import rules
from ..conversation import MergedTurn, Placed
from .context import Context, refuse


def check(context: Context) -> Iterator[Refusal]:
    """Rules between neighbouring turns."""
    previous: MergedTurn | None = None
    for n, turn in enumerate(context.turns):
        if turn.role == "assistant":
            yield from _calls(context, turn, context.turns[n + 1] if n + 1 < len(context.turns) else None)
        elif turn.role == "user":
            yield from _results(turn, previous)
        previous = turn


def _calls(context: Context, turn: MergedTurn, answer: MergedTurn | None) -> Iterator[Refusal]:
    calls = turn.blocks_of_type("tool_use")
    if not calls:
        return
    seen: set[object] = set()
    for call in calls:
        if call.block.get("id") in seen:
            yield refuse(rules.DUPLICATE_CALL_ID, f"{call.path}: `tool_use` ids must be unique", call.path)
        seen.add(call.block.get("id"))
    separated = _followed_by_text(turn)
    if separated:
        yield _dangling(rules.TEXT_AFTER_CALL, turn, separated)
        return
    leading = _leading_results(answer)
    missing = [call for call in calls if call.block.get("id") not in leading]
    if not missing:
        return
    later = {each.block.get("tool_use_id") for each in answer.blocks_of_type("tool_result")} if answer else set()
    if any(call.block.get("id") in later for call in missing):
        yield _dangling(rules.TEXT_BEFORE_RESULT, turn, missing)
    elif answer is None and not context.body.get("tools"):
        yield _dangling(rules.DANGLING_LAST_WITHOUT_TOOLS, turn, missing)
    else:
        yield _dangling(rules.DANGLING_CALL, turn, missing)


def _followed_by_text(turn: MergedTurn) -> list[Placed]:
    """The calls after which text follows in their own turn."""
    kinds = [block.get("type") for block in turn.blocks]
    last_text = max((n for n, kind in enumerate(kinds) if kind == "text"), default=-1)
    return [turn.place(n) for n in range(last_text) if kinds[n] == "tool_use"]


def _leading_results(answer: MergedTurn | None) -> set[object]:
    found: set[object] = set()
    if answer is not None and answer.role == "user":
        for block in answer.blocks:
            if block.get("type") != "tool_result":
                break
            found.add(block.get("tool_use_id"))
    return found


def _dangling(rule: Rule, turn: MergedTurn, calls: Sequence[Placed]) -> Refusal:
    ids = ", ".join(str(call.block.get("id")) for call in calls)
    # The number is that of the message after the assistant's, as in the one recording with a known body.
    message = (
        f"messages.{turn.last + 1}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )
    return refuse(rule, message, calls[0].path)


def _results(turn: MergedTurn, previous: MergedTurn | None) -> Iterator[Refusal]:
    results = turn.blocks_of_type("tool_result")
    if not results:
        return
    call_ids = {each.block.get("id") for each in previous.blocks_of_type("tool_use")} if previous else set()
    result_ids: set[object] = set()
    for result in results:
        call_id = result.block.get("tool_use_id")
        if call_id not in call_ids:
            message = (
                f"{result.path}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
            yield refuse(rules.ORPHAN_RESULT, message, result.path)
        elif call_id in result_ids:
            message = f"each tool_use must have a single result. Found multiple `tool_result` blocks with id: {call_id}"
            yield refuse(rules.DUPLICATE_RESULT, message, result.path)
        result_ids.add(call_id)
