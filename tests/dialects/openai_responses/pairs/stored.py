"""Pairs about what the service keeps: what a request goes on from, and operations on the store."""

from __future__ import annotations

from ..asks import Ask, Pair, ask
from ..builders import BACKGROUND, CONVERSATION, FAILED, RESPONSE, user


def _on(path: str, method: str = "GET") -> Ask:
    """An operation on the store."""
    return Ask(path=f"/v1/{path}", method=method)


THANKS = user("Thanks")

PAIRS: tuple[Pair, ...] = (
    Pair(
        "conversation-and-previous-response",
        ask(THANKS, previous_response_id="resp_answer", conversation=CONVERSATION),
        "'previous_response_id' cannot be used in conjunction with 'conversation'.",
        ask(THANKS, conversation=CONVERSATION), param="previous_response_id",
    ),
    Pair(
        "conversation-not-found", ask(THANKS, conversation="conv_gone"), "Conversation with id 'conv_gone' not found.",
        ask(THANKS, conversation={"id": CONVERSATION}), status=404, enforced=False,
    ),
    Pair(
        "previous-response", ask(THANKS, previous_response_id="resp_theirs"),
        "Previous response with id 'resp_theirs' not found.", ask(THANKS, previous_response_id="resp_answer"),
        kind="previous_response_not_found", param="previous_response_id", variant="of-another-owner",
    ),
    Pair(
        "unfinished-previous-response", ask(THANKS, previous_response_id=FAILED),
        f"Previous response with id '{FAILED}' has the status 'failed'.",
        ask(THANKS, previous_response_id="resp_answer"), enforced=False,
    ),
    Pair(
        "background-unstored", ask(background=True, store=False), "Background mode requires 'store' to be true.",
        ask(background=True), param="store",
    ),
    Pair(
        "cancel-of-foreground", _on(f"responses/{RESPONSE}/cancel", "POST"), "Cannot cancel a synchronous response.",
        _on(f"responses/{BACKGROUND}/cancel", "POST"),
    ),
)  # fmt: skip
