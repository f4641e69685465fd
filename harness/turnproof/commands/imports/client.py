"""What the client of a recording did with the answers that it got: where its next request says something else.

That is no verdict about an adapter of today. It is what the recording shows, and often the bug that it is kept for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...messages import Message
from .apis import ReadExchange
from .conversations import Conversation

_ABOUT_ANSWERS = frozenset(
    {"lost-text", "lost-call", "lost-result", "order", "pairing", "lost-signature", "changed-args", "lost-attachment"}
)


def remarks(conversation: Conversation) -> Iterator[str]:
    """One line for each request that was refused, and for each answer that was not sent back as it came."""
    for number, step in enumerate(conversation.steps, 1):
        if step.failed:
            yield f"request {number} was refused: {step.answer.status} {step.answer.error_message or ''}".rstrip()
            yield from (f"  by the rule {one.rule.id}: {one.message}" for one in step.objections)
    for number, (before, after) in enumerate(zip(conversation.steps, conversation.steps[1:], strict=False), 2):
        yield from (f"request {number}: {what}" for what in _changed(before, after))


def _changed(before: ReadExchange, after: ReadExchange) -> Iterator[str]:
    if before.failed:
        return
    known_messages = [*before.call.messages, Message("model", before.answer.parts, "answer")]
    call = after.call
    said_since = call.messages[len(known_messages) :]
    for found in after.dialect.differences([*known_messages, *said_since], None, call.tools, call, call.model or ""):
        if found.violation and found.what in _ABOUT_ANSWERS:
            yield f"the client sent back something else than it was answered: {found.what} at {found.path}"
