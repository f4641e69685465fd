"""What stands in an error's body: durations as services spell them, and details whatever form they have."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof_adapters._encoded_messages import encode
from turnproof_adapters.antigravity.errors import asks_another, asks_elsewhere
from turnproof_adapters.antigravity.refusals import Refusal, seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.957525076s", 3.957525076),
        ("510ms", 0.51),
        ("0s", 0.0),
        ("2m5s", 125.0),
        ("90m", 5400.0),
        ("1h16m0.667923083s", 4560.667923083),
        ("5h0m0s", 18000.0),
        ("1m500ms", 60.5),
        ("", None),
        ("s", None),
        ("5", None),
        ("-5s", None),
        ("5 s", None),
        ("soon", None),
        (5, None),
        (None, None),
        ("9" * 400 + "s", None),
    ],
)
def test_durations_are_read_as_go_spells_them(text: Any, expected: float | None) -> None:
    assert seconds(text) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("body", "word", "message"),
    [
        ({"error": "invalid_grant", "error_description": "Expired."}, "invalid_grant", "Expired."),
        ({"error": "invalid_grant"}, "invalid_grant", "invalid_grant"),
        ({"error": "invalid_grant", "error_description": 7}, "invalid_grant", "invalid_grant"),
        ({"error": {"status": "X", "message": ""}}, "X", "X"),
        ({"error": {}}, None, "HTTP status 400"),
        ({"error": None}, None, "HTTP status 400"),
        (7, None, "HTTP status 400"),
    ],
)  # fmt: skip
def test_an_error_is_read_in_both_of_its_forms(body: Any, word: str | None, message: str) -> None:
    refusal = Refusal.of_body(400, {}, encode(body))
    assert (refusal.status, refusal.word, refusal.message) == (400, word, message)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 429, 499, 500, 503, 529])
def test_the_status_says_who_else_may_be_asked(status: int) -> None:
    refusal = Refusal.of_body(status, {}, b"")
    assert asks_elsewhere(refusal) is (status in (403, 404, 429) or status >= 500)
    assert asks_another(refusal) is (status in (401, 403, 429))


@pytest.mark.parametrize(
    ("status", "reason", "elsewhere", "another"),
    [
        (403, "VALIDATION_REQUIRED", False, True),
        (403, "SUBSCRIPTION_REQUIRED", False, True),
        (403, "SERVICE_DISABLED", True, True),
        (429, "RATE_LIMIT_EXCEEDED", False, True),
        (429, "QUOTA_EXHAUSTED", False, True),
        (429, "MODEL_CAPACITY_EXHAUSTED", True, False),
        (503, "MODEL_CAPACITY_EXHAUSTED", True, False),
    ],
)
def test_what_is_an_accounts_is_so_at_every_host_and_what_is_a_models_for_every_account(
    status: int, reason: str, elsewhere: bool, another: bool
) -> None:
    refusal = Refusal.of_error({"details": [{"reason": reason}]}, status)
    assert (asks_elsewhere(refusal), asks_another(refusal)) == (elsewhere, another)


def test_a_quota_that_is_named_is_the_accounts() -> None:
    refusal = Refusal.of_error({"details": [{"violations": [{"quotaId": "RequestsPerMinute"}]}]}, 429)
    assert (asks_elsewhere(refusal), asks_another(refusal)) == (False, True)
