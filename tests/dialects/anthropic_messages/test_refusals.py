"""Each rule of the Messages API, from both sides: what it refuses, in which words, and what it must leave alone.

Recordings are mostly of accepted requests; that the illegal ones are refused, only a table of them can show.
"""

from __future__ import annotations

from operator import attrgetter

import msgspec
import pytest

from turnproof.dialects.anthropic_messages import DIALECT, rules
from turnproof.dialects.base import Call, Evidence, Refusal

from .accepted import ACCEPTED, Accepted
from .pairs import PAIRS, WITHOUT_PAIR, Ask, Pair, world

encode = msgspec.json.encode


def judged(ask: Ask) -> list[Refusal]:
    """All refusals of a request, whether it fell at reading or at judging."""
    request = ask.request(encode)
    call = DIALECT.parse(request, world())
    return DIALECT.validate(request, call, world()) if isinstance(call, Call) else [call]


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_illegal_request_is_refused_in_the_words_of_the_service(pair: Pair) -> None:
    found = judged(pair.illegal)
    assert found, "nothing was refused"
    first = found[0]
    assert first.rule.id == f"anthropic-messages/{pair.rule}"
    assert (first.status, first.kind, first.message) == (pair.status, pair.kind, pair.message)
    assert first.enforced is pair.enforced


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_nearest_legal_neighbour_is_accepted(pair: Pair) -> None:
    assert [each.message for each in judged(pair.legal)] == []


@pytest.mark.parametrize("case", ACCEPTED, ids=attrgetter("id"))
def test_what_the_service_accepts_is_accepted(case: Accepted) -> None:
    assert [each.message for each in judged(case.ask) if each.enforced] == []


def test_every_rule_has_a_pair_or_a_reason_why_not() -> None:
    named = {rule.id.removeprefix("anthropic-messages/") for rule in rules.ALL}
    assert named == {pair.rule for pair in PAIRS} | set(WITHOUT_PAIR)
    assert len(named) == len(rules.ALL)
    assert all(rule.source for rule in rules.ALL)


def test_only_inferred_rules_are_not_enforced() -> None:
    inferred = {rule.id.removeprefix("anthropic-messages/") for rule in rules.ALL if rule.evidence is Evidence.INFERRED}
    assert inferred == {pair.rule for pair in PAIRS if not pair.enforced}


def test_enforced_refusals_stand_in_front_of_inferred_ones() -> None:
    both = Ask(PAIRS[0].illegal.body | {"stop_sequences": [" "]}, headers=PAIRS[0].illegal.headers)
    assert [each.enforced for each in judged(both)] == [True, False]


def test_a_wrong_key_is_named_before_a_broken_body() -> None:
    assert judged(Ask(raw=b"{", headers={"x-api-key": "wrong"}))[0].rule is rules.BAD_KEY


def test_a_beta_value_younger_than_our_list_is_not_judged() -> None:
    assert judged(Ask(PAIRS[0].legal.body, headers={"anthropic-beta": "brand-new-2027-01-01"})) == []


def test_an_error_body_has_the_recorded_form() -> None:
    refusal = judged(next(pair for pair in PAIRS if pair.rule == "no-messages").illegal)[0]
    rendered = DIALECT.render_refusal(refusal, "seed")
    body = msgspec.json.decode(rendered.events[0].data)
    assert rendered.status == 400
    assert rendered.headers["x-should-retry"] == "false"
    assert body == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "messages: at least one message is required"},
        "request_id": rendered.headers["request-id"],
    }


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"), (401, "authentication_error"), (402, "billing_error"),
        (403, "permission_error"), (404, "not_found_error"), (409, "conflict_error"), (413, "request_too_large"),
        (422, "invalid_request_error"), (429, "rate_limit_error"), (500, "api_error"), (504, "timeout_error"),
        (529, "overloaded_error"), (418, "invalid_request_error"), (599, "api_error"),
    ],
)  # fmt: skip
def test_each_status_has_its_error_type(status: int, kind: str) -> None:
    assert DIALECT.error_kind(status)[0] == kind
