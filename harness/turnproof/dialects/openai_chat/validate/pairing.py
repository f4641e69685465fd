"""Calls and results: every call answered by the `tool` messages right behind it, nothing answered that was not asked.

The numbers in paths count wire messages from zero. Results of one message may stand in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...base import Refusal, Rule
from .. import rules
from ..surfaces import Surface
from .context import Context

_ORPHAN = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
_UNSEEN = {Surface.GITHUB: rules.GITHUB_PAIRING, Surface.COPILOT: rules.COPILOT_PAIRING}
"""Where nobody was seen refusing it."""


def check(context: Context) -> Iterator[Refusal]:
    """Rules between neighbouring messages."""
    unseen = _UNSEEN.get(context.surface)
    for found in _pairing(context):
        yield found if unseen is None else replace(found, rule=unseen)


def _pairing(context: Context) -> Iterator[Refusal]:
    call_ids: set[str] | None = None
    waiting: list[str] = []
    for n, message in enumerate(context.messages):
        if message["role"] == "tool":
            call_id = str(message.get("tool_call_id", ""))
            if call_ids is None:
                yield _refuse(context, rules.ORPHAN_RESULT, _ORPHAN, n)
            elif call_id not in call_ids:
                words = (
                    f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
                )
                yield _refuse(context, rules.UNKNOWN_CALL, words, n, "tool_call_id")
            waiting = [each for each in waiting if each != call_id]
            continue
        if waiting:
            yield _dangling(context, waiting, n)
        calls = [str(call.get("id", "")) for call in message.get("tool_calls") or ()]
        call_ids, waiting = (set(calls) if calls else None), calls
    if waiting:
        yield _dangling(context, waiting, len(context.messages))


def _dangling(context: Context, waiting: Sequence[str], n: int) -> Refusal:
    words = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
    )
    return _refuse(context, rules.DANGLING_CALL, words, n)


def _refuse(context: Context, rule: Rule, words: str, n: int, field: str = "role") -> Refusal:
    return context.refuse(rule, "invalid_request_error", words, f"messages.[{n}].{field}")
