"""Errors of the Messages API: their bodies, and what is not refused because our list may be older than it."""

from __future__ import annotations

import msgspec

from turnproof.dialects.anthropic_messages import DIALECT, rules

from .asks import Ask
from .pairs import PAIRS
from .refusals import judge


def test_a_beta_value_that_our_list_lacks_is_only_logged() -> None:
    (refusal,) = judge(Ask(PAIRS[0].legal.body, headers={"anthropic-beta": "brand-new-2027-01-01"}))
    assert (refusal.rule, refusal.enforced) == (rules.UNKNOWN_BETA, False)


def test_an_error_body_has_the_recorded_form() -> None:
    refusal = judge(next(pair for pair in PAIRS if pair.rule == "no-messages").illegal)[0]
    rendered = DIALECT.render_refusal(refusal, "seed")
    body = msgspec.json.decode(rendered.events[0].data)
    assert rendered.status == 400
    assert rendered.headers["x-should-retry"] == "false"
    assert body == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "messages: at least one message is required"},
        "request_id": rendered.headers["request-id"],
    }
