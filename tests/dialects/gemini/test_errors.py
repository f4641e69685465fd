"""Errors of the Gemini API: where they point, their bodies, and what they mean."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Refusal, WireEvent
from turnproof.dialects.gemini import DIALECT, errors, rules

from .asks import Ask, ask
from .builders import user
from .pairs import PAIRS
from .refusals import judge


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


def test_a_body_that_is_nested_too_deeply_is_refused() -> None:
    deep = b'{"contents": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert judge(Ask(raw=deep))[0].rule is rules.MALFORMED_JSON


def test_a_path_says_where_it_is_in_the_request() -> None:
    (refusal,) = judge(ask(user("a"), user({})))
    assert refusal.path == "$.contents[1].parts[0]"


# -- the bodies of errors


def refusal_of(rule: str) -> Refusal:
    return judge(next(pair.illegal for pair in PAIRS if pair.rule == rule))[0]


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
    assert body_of(judge(pair.illegal)[0])["details"] == [
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


@pytest.mark.parametrize(("seconds", "delay"), [(48, "48s"), (0.05, "0.05s"), (48.939935699, "48.939935699s")])
def test_how_long_to_wait_stands_in_the_body_in_words_and_as_retry_info(seconds: float, delay: str) -> None:
    error = body_of(exhausted(seconds))
    assert error["message"] == f"{errors.QUOTA}\nPlease retry in {delay}."
    assert [detail["@type"].rpartition(".")[2] for detail in error["details"]] == ["Help", "QuotaFailure", "RetryInfo"]
    assert error["details"][2]["retryDelay"] == delay


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
