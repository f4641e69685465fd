"""Errors of the gateway: what its rules rest on, their bodies, and the window of each kind of model."""

from __future__ import annotations

import json
from operator import attrgetter
from typing import Any

import msgspec
import pytest

from turnproof.dialects.antigravity import DIALECT, errors, rules
from turnproof.dialects.base import Evidence, Refusal
from turnproof.dialects.gemini import rules as gemini

from ..gemini.builders import model, user
from .builders import CLAUDE, GEMINI, GPT, OPENING, Ask, ask, call, claude, declaring, judged
from .refusals import PAIRS, Pair, inner_message, judges


def body_of(refusal: Refusal) -> dict[str, Any]:
    """The body that goes out."""
    rendered = DIALECT.render_refusal(refusal, "seed")
    assert rendered.status == refusal.status
    assert "retry-after" not in rendered.headers
    (event,) = rendered.events
    found: dict[str, Any] = msgspec.json.decode(event.data)
    return found


def test_no_rule_claims_a_recording_and_only_the_reader_of_json_is_known_by_its_source() -> None:
    assert not any(rule.evidence is Evidence.RECORDED for rule in rules.ALL)
    assert [rule for rule in rules.ALL if rule.evidence is Evidence.SERVER] == [rules.NOT_REPEATING]


def test_a_rule_of_the_gemini_api_has_evidence_of_its_own_here() -> None:
    assert rules.gateway_rule(gemini.TEMPERATURE).evidence is Evidence.INFERRED
    assert gemini.TEMPERATURE.evidence is Evidence.RECORDED
    assert rules.gateway_rule(gemini.RESPONSE_COUNT).id == "antigravity/response-count"


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.rule.startswith("claude-")], ids=attrgetter("id"))
def test_an_error_of_claude_is_a_json_string_inside_the_message(pair: Pair) -> None:
    refusal = next(each for each in judged(pair.illegal, judges()) if each.rule.id.endswith(pair.rule))
    error = body_of(refusal)["error"]
    assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    inner = msgspec.json.decode(error["message"])
    assert (inner["type"], inner["error"]["type"]) == ("error", "invalid_request_error")
    assert inner["request_id"].startswith("req_vrtx_011")


def test_a_fault_of_reading_names_every_field_in_its_details() -> None:
    bad = declaring({"name": "a", "parameters": {"type": "object", "const": 1, "$id": "x"}})
    (refusal,) = judged(bad)
    (detail,) = body_of(refusal)["error"]["details"]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    where = "request.tools[0].function_declarations[0].parameters"
    assert [each["field"] for each in detail["fieldViolations"]] == [where, where]
    assert refusal.path == f"$.{where}"


def test_a_refusal_of_the_token_endpoint_is_written_as_oauth_has_it() -> None:
    (pair,) = (pair for pair in PAIRS if pair.id == "invalid-grant")
    (refusal,) = judged(pair.illegal)
    body = body_of(refusal)
    assert body == {"error": "invalid_grant", "error_description": "Token has been expired or revoked."}


def test_a_host_that_fails_knows_nobody() -> None:
    assert [each.status for each in judged(ask().by(None).at("/down-500/v1internal:generateContent"))] == [500, 401]


def test_what_only_one_kind_of_model_is_held_to_leaves_the_others_alone() -> None:
    unsigned = (
        OPENING,
        model(call(None, bed="3")),
        user({"functionResponse": {"name": "read_sensor", "response": {}}}),
    )
    dangling = (OPENING, model(call(bed="3")), user("Never mind."))
    assert [each.enforced for each in judged(ask(*unsigned))] == [True]
    assert judged(claude(*unsigned)) == []
    assert judged(ask(*unsigned, model=GPT)) == judged(ask(*dangling, model=GPT)) == []
    assert not any(each.enforced for each in judged(ask(*dangling, model="gemini-2.5-flash")))


@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        pytest.param(GEMINI, 1_048_576, "The input token count ({}) exceeds the maximum number", id="Gemini"),
        pytest.param(CLAUDE, 200_000, "prompt is too long: {} tokens > 200000 maximum", id="Claude"),
    ],
)
def test_a_prompt_that_does_not_fit_is_refused_by_the_window_of_its_model(name: str, limit: int, message: str) -> None:
    long = ask(user("four" * limit), model=name)
    (refusal,) = judged(long)
    assert inner_message(refusal).startswith(message.format(limit + 1))
    assert DIALECT.error_meaning(400, refusal.kind, refusal.message) == "context-limit"
    assert judged(ask(user("four" * (limit - 9)), model=name)) == []


def test_a_scripted_429_has_the_details_that_its_delay_asks_for() -> None:
    def details(wait: float | None) -> list[dict[str, Any]]:
        kind, message = DIALECT.error_kind(429)
        error = body_of(Refusal(rules.HOST_DOWN, 429, kind, message, retry_after=wait))["error"]
        assert error["message"].startswith("Resource has been" if wait is None else "You have exhausted your capacity")
        found: list[dict[str, Any]] = error.get("details", [])
        return found

    assert details(None) == []
    limited, again = details(3.957525076)
    assert (limited["reason"], limited["domain"]) == ("RATE_LIMIT_EXCEEDED", "cloudcode-pa.googleapis.com")
    assert again == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3.957525076s"}
    assert details(301)[0]["reason"] == "QUOTA_EXHAUSTED"


@pytest.mark.parametrize(
    ("wait", "delay", "words"),
    [
        (0.51, "510ms", "1s"),
        (3.957525076, "3.957525076s", "3s"),
        (125.0, "2m5s", "2m5s"),
        (4560.667923083, "1h16m0.667923083s", "1h16m0s"),
    ],
)
def test_delays_are_spelled_as_the_gateway_spells_them(wait: float, delay: str, words: str) -> None:
    error = body_of(errors.quota(rules.QUOTA, CLAUDE, wait, 1_700_000_000.0))["error"]
    info, again = error["details"]
    assert info["metadata"]["quotaResetDelay"] == delay
    assert error["message"].endswith(f"Your quota will reset after {words}.")
    body = json.dumps({"error": error}).encode()
    assert DIALECT.read_response(429, {}, body).retry_after == wait, again


def test_a_model_without_capacity_is_named_in_the_details() -> None:
    message = f"No capacity available for model {CLAUDE} on the server"
    error = body_of(Refusal(rules.HOST_DOWN, 503, "UNAVAILABLE", message, retry_after=39.0))["error"]
    capacity, again = error["details"]
    assert (capacity["reason"], capacity["metadata"]) == ("MODEL_CAPACITY_EXHAUSTED", {"model": CLAUDE})
    assert again["retryDelay"] == "39s"


def test_media_in_a_conversation_with_claude_are_handed_on() -> None:
    image = {"inlineData": {"mimeType": "image/png", "data": "cG5n"}}
    answered = {"functionResponse": {"name": "read_sensor", "response": {}, "id": "toolu_vrtx_01A"}}
    assert judged(claude(user("Look", image), model(call(bed="3")), user(answered, image))) == []


def test_what_reads_oddly_but_is_known_to_be_sent_is_accepted() -> None:
    whole = Ask(
        {
            "project": "turnproof-main", "model": CLAUDE, "userAgent": "antigravity", "requestType": "agent",
            "requestId": "agent-0001",
            "request": {
                "contents": [OPENING, OPENING],
                "systemInstruction": {"role": "user", "parts": [{"text": "You watch a canal."}]},
                "toolConfig": {"functionCallingConfig": {"mode": "VALIDATED"}},
                "generationConfig": {"maxOutputTokens": 4096, "thinkingConfig": {"includeThoughts": True}},
                "sessionId": "-123456789",
            },
        }
    )  # fmt: skip
    assert judged(whole) == []
