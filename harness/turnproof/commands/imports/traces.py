"""Calls of a trace, put together to conversations."""

from __future__ import annotations

from collections.abc import Iterable

from .conversations import begins_with
from .exchanges import TracedCall


def traced_conversations(calls: Iterable[TracedCall]) -> list[list[TracedCall]]:
    """The conversations, in the order in which they began: calls of which each holds what was said before it."""
    found: list[list[TracedCall]] = []
    for call in calls:
        spans = next(
            (
                one
                for one in reversed(found)
                if len(call.messages) > len(one[-1].messages) and begins_with(call.messages, one[-1].messages)
            ),
            None,
        )
        if spans is None:
            spans = []
            found.append(spans)
        spans.append(call)
    return found
