"""Each rule of the Gemini API, from both sides: what it refuses, in which words, and what it must leave alone.

Recordings are mostly of accepted requests; that the illegal ones are refused, only a table of them can show.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Call, Evidence, Refusal, WireEvent
from turnproof.dialects.gemini import DIALECT, errors, rules

from .accepted import ACCEPTED, Accepted
from .builders import ask, call, loop, model, user
from .pairs import PAIRS, WITHOUT_PAIR, Ask, Pair, world

encode = msgspec.json.encode


def judged(asked: Ask) -> list[Refusal]:
    """All refusals of a request, whether it fell at reading or at judging."""
    request, here = asked.request(encode), world()
    found = DIALECT.parse(request, here)
    return DIALECT.validate(request, found, here) if isinstance(found, Call) else [found]


def body_of(refusal: Refusal) -> dict[str, Any]:
    """The `error` of the body that goes out."""
    rendered = DIALECT.render_refusal(refusal, "seed")
    assert rendered.status == refusal.status
    assert "retry-after" not in rendered.headers
    (event,) = rendered.events
    body = msgspec.json.decode(event.data)
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert (error["code"], error["status"]) == (refusal.status, refusal.kind)
    return error


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_illegal_request_is_refused_in_the_words_of_the_service(pair: Pair) -> None:
    found = judged(pair.illegal)
    assert found, "nothing was refused"
    first = found[0]
    assert first.rule.id == f"gemini/{pair.rule}"
    assert (first.status, first.kind, first.message) == (pair.status, pair.kind, pair.message)
    assert first.enforced is pair.enforced


@pytest.mark.parametrize("pair", PAIRS, ids=attrgetter("id"))
def test_the_nearest_legal_neighbour_is_accepted(pair: Pair) -> None:
    assert [each.message for each in judged(pair.legal)] == []


@pytest.mark.parametrize("case", ACCEPTED, ids=attrgetter("id"))
def test_what_the_service_accepts_is_accepted(case: Accepted) -> None:
    assert [each.message for each in judged(case.ask) if each.enforced] == []


def test_every_rule_has_a_pair_or_a_reason_why_not() -> None:
    named = {rule.id.removeprefix("gemini/") for rule in rules.ALL}
    assert named == {pair.rule for pair in PAIRS} | set(WITHOUT_PAIR)
    assert len(named) == len(rules.ALL)
    assert all(rule.source for rule in rules.ALL)


def test_only_inferred_rules_are_not_enforced() -> None:
    inferred = {rule.id.removeprefix("gemini/") for rule in rules.ALL if rule.evidence is Evidence.INFERRED}
    assert inferred == {pair.rule for pair in PAIRS if not pair.enforced}


def test_enforced_refusals_stand_in_front_of_inferred_ones() -> None:
    both = loop(model(call()), user("Never mind."), model("It is"))
    assert [each.enforced for each in judged(both)] == [True, False]


def test_a_wrong_key_is_named_before_a_broken_body() -> None:
    assert judged(Ask(raw=b"{", headers={"x-goog-api-key": "wrong"}))[0].rule is rules.BAD_KEY


def test_a_body_that_is_nested_too_deeply_is_refused() -> None:
    deep = b'{"contents": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert judged(Ask(raw=deep))[0].rule is rules.MALFORMED_JSON


def test_a_path_says_where_it_is_in_the_request() -> None:
    (refusal,) = judged(ask(user("a"), user({})))
    assert refusal.path == "$.contents[1].parts[0]"


# -- the bodies of errors


def refusal_of(rule: str) -> Refusal:
    return judged(next(pair.illegal for pair in PAIRS if pair.rule == rule))[0]


def test_a_refusal_is_nothing_but_code_message_and_status() -> None:
    assert body_of(refusal_of("no-contents")) == {
        "code": 400,
        "message": "* GenerateContentRequest.contents: contents is not specified\n",
        "status": "INVALID_ARGUMENT",
    }


def test_a_bad_key_comes_with_the_recorded_details() -> None:
    message = "API key not valid. Please pass a valid API key."
    assert body_of(refusal_of("bad-key"))["details"] == [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        },
        {"@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en-US", "message": message},
    ]


@pytest.mark.parametrize("rule", ["missing-token", "key-for-token"])
def test_missing_credentials_are_called_so(rule: str) -> None:
    (detail,) = body_of(refusal_of(rule))["details"]
    assert detail["reason"] == "CREDENTIALS_MISSING"


def test_what_could_not_be_read_is_listed_field_by_field() -> None:
    pair = next(pair for pair in PAIRS if pair.id == "unknown-name-two")
    first, second = pair.message.splitlines()
    assert body_of(judged(pair.illegal)[0])["details"] == [
        {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [
                {"field": "contents[0]", "description": first},
                {"field": "contents[0].parts[0]", "description": second},
            ],
        }
    ]


def test_at_the_root_there_is_no_field_to_name() -> None:
    (detail,) = body_of(refusal_of("unknown-name"))["details"]
    (violation,) = detail["fieldViolations"]
    assert list(violation) == ["description"]


def exhausted(retry_after: float | None, message: str = errors.QUOTA) -> Refusal:
    return Refusal(rules.RATE_LIMIT, 429, "RESOURCE_EXHAUSTED", message, retry_after=retry_after)


@pytest.mark.parametrize(("seconds", "said"), [(48, "48s"), (0.05, "0.05s"), (48.939935699, "48.939935699s")])
def test_how_long_to_wait_stands_in_the_body_in_words_and_as_retry_info(seconds: float, said: str) -> None:
    error = body_of(exhausted(seconds))
    assert error["message"] == f"{errors.QUOTA}\nPlease retry in {said}."
    assert [detail["@type"].rpartition(".")[2] for detail in error["details"]] == ["Help", "QuotaFailure", "RetryInfo"]
    assert error["details"][2]["retryDelay"] == said


def test_an_exhausted_quota_without_a_delay_names_none() -> None:
    error = body_of(exhausted(None))
    assert error["message"] == errors.QUOTA
    assert [detail["@type"].rpartition(".")[2] for detail in error["details"]] == ["Help", "QuotaFailure"]


def test_vertex_says_that_a_quota_is_exhausted_and_no_more() -> None:
    assert body_of(exhausted(3, errors.VERTEX_QUOTA)) == {
        "code": 429,
        "message": errors.VERTEX_QUOTA,
        "status": "RESOURCE_EXHAUSTED",
    }


def test_another_error_that_asks_to_wait_says_so_as_retry_info_alone() -> None:
    error = body_of(Refusal(rules.OVERLOADED, 503, "UNAVAILABLE", "Busy.", retry_after=2))
    assert error["message"] == "Busy."
    assert error["details"] == [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "INVALID_ARGUMENT"), (401, "UNAUTHENTICATED"), (403, "PERMISSION_DENIED"), (404, "NOT_FOUND"),
        (409, "ABORTED"), (413, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (499, "CANCELLED"),
        (500, "INTERNAL"), (503, "UNAVAILABLE"), (504, "DEADLINE_EXCEEDED"), (418, "INVALID_ARGUMENT"),
        (529, "INTERNAL"),
    ],
)  # fmt: skip
def test_each_status_has_its_word(status: int, kind: str) -> None:
    assert DIALECT.error_kind(status)[0] == kind


@pytest.mark.parametrize(
    ("kind", "code"),
    [("UNAVAILABLE", 503), ("RESOURCE_EXHAUSTED", 429), ("DEADLINE_EXCEEDED", 504), ("INTERNAL", 500), ("other", 500)],
)
def test_an_error_in_a_stream_is_a_chunk_of_its_own(kind: str, code: int) -> None:
    event = DIALECT.error_event(kind, "Später.")
    assert isinstance(event, WireEvent)
    assert event.kind == "error"
    assert event.data.startswith(b"data: ")
    assert event.data.endswith(b"\r\n\r\n")
    error = {"code": code, "message": "Später.", "status": kind}
    assert msgspec.json.decode(event.data[6:]) == {"error": error}


@pytest.mark.parametrize(
    ("rule", "meaning"),
    [
        ("bad-key", "authentication"), ("too-many-tokens", "context-limit"), ("cache-gone", "cache-expired"),
        ("missing-key", None), ("no-contents", None), ("cache-too-small", None), ("unknown-model", None),
    ],
)  # fmt: skip
def test_what_an_error_means_where_its_status_does_not_tell(rule: str, meaning: str | None) -> None:
    refusal = refusal_of(rule)
    assert DIALECT.error_meaning(refusal.status, refusal.kind, refusal.message) == meaning


def test_words_under_another_status_mean_nothing() -> None:
    assert DIALECT.error_meaning(500, "INTERNAL", "API key not valid. CachedContent not found") is None
    assert DIALECT.error_meaning(400, None, None) is None
