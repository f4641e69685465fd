"""Errors of the chat completions API: the body of each surface, and what it says."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Call, HttpRequest, Refusal
from turnproof.dialects.contract import Dialect
from turnproof.dialects.openai_chat import DIALECT, SURFACES, rules
from turnproof.dialects.openai_chat.surfaces import Surface

from .asks import Ask, Pair, ask, world
from .builders import KEY
from .pairs import PAIRS
from .refusals import judge


def dialect_of(request: Ask) -> Dialect:
    return SURFACES[request.surface.value]


def written(request: Ask, refusal: Refusal) -> Any:
    rendered = dialect_of(request).render_refusal(refusal, "seed")
    return msgspec.json.decode(rendered.events[0].data)


# -- how it is said


@pytest.mark.parametrize(
    "pair",
    [pair for pair in PAIRS if pair.param is not None or pair.illegal.surface is Surface.OPENAI],
    ids=attrgetter("id"),
)
def test_the_body_of_openai_has_all_four_members(pair: Pair) -> None:
    error = written(pair.illegal, judge(pair.illegal)[0])["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["message"] == pair.message
    assert error["param"] == pair.param
    assert pair.kind == (error["code"] or error["type"])


def test_azure_gives_its_own_refusals_a_code_and_hands_on_those_of_the_maker() -> None:
    own = next(pair for pair in PAIRS if pair.rule == "azure-deployment").illegal
    handed_on = next(pair for pair in PAIRS if pair.id == "dangling-call-azure").illegal
    assert set(written(own, judge(own)[0])["error"]) == {"code", "message"}
    assert written(handed_on, judge(handed_on)[0])["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("github-key", {"code": "unauthorized", "details": "=", "message": "="}),
        ("copilot-model", {"code": "model_not_supported", "message": "="}),
        ("zai-key", {"code": "1000", "message": "="}),
        ("ollama-model", {"type": "not_found_error", "message": "=", "param": None, "code": None}),
    ],
)
def test_each_surface_has_an_error_body_of_its_own(rule: str, body: dict[str, Any]) -> None:
    pair = next(pair for pair in PAIRS if pair.rule == rule)
    expected = {name: pair.message if value == "=" else value for name, value in body.items()}
    assert written(pair.illegal, judge(pair.illegal)[0]) == {"error": expected}


def test_zai_answers_a_wrong_route_with_status_200_and_an_envelope() -> None:
    request = next(pair for pair in PAIRS if pair.rule == "zai-route").illegal
    refusal = judge(request)[0]
    assert written(request, refusal) == {"code": 500, "msg": "404 NOT_FOUND", "success": False}
    rendered = DIALECT.render_refusal(refusal, "seed")
    answer = DIALECT.read_response(200, rendered.headers, rendered.events[0].data)
    assert (answer.error_kind, answer.error_message, answer.complete) == ("500", "404 NOT_FOUND", False)


def test_copilot_speaks_plain_text_to_an_editor_without_a_version() -> None:
    request = next(pair for pair in PAIRS if pair.rule == "copilot-editor").illegal
    rendered = DIALECT.render_refusal(judge(request)[0], "seed")
    assert rendered.headers["content-type"].startswith("text/plain")
    answer = DIALECT.read_response(rendered.status, rendered.headers, rendered.events[0].data)
    assert answer.error_message == "bad request: missing Editor-Version header for IDE auth\n"


def test_no_error_shows_a_key() -> None:
    request = Ask(ask().body, headers={"authorization": "Bearer sk-a-secret-of-somebody"})
    refusal = judge(request)[0]
    assert refusal.rule is rules.BAD_KEY
    assert "secret" not in refusal.message


def test_the_first_thing_that_is_wrong_is_named_first() -> None:
    both = ask(model="gpt-9", temperature=9)
    assert [each.rule for each in judge(both)] == [rules.UNKNOWN_MODEL, rules.TEMPERATURE]


def test_a_wait_is_told_in_a_header_where_the_surface_has_one() -> None:
    def head(surface: Surface) -> dict[str, str]:
        kind, message = SURFACES[surface.value].error_kind(429)
        refusal = Refusal(rules.RATE_LIMIT, 429, kind, message, retry_after=2.5)
        return dict(SURFACES[surface.value].render_refusal(refusal, "seed").headers)

    assert head(Surface.OPENAI)["retry-after"] == "2.5"
    assert head(Surface.GITHUB)["retry-after"] == "2.5"
    assert "retry-after" not in head(Surface.ZAI)
    assert DIALECT.read_response(429, {"retry-after": "2.5"}, b"{}").retry_after == 2.5
    assert DIALECT.read_response(429, {"retry-after-ms": "250"}, b"{}").retry_after == 0.25


def test_a_filtered_prompt_says_what_the_filter_found() -> None:
    azure = SURFACES["azure"]
    refusal = Refusal(rules.CONTENT_FILTER, 400, "content_filter", "The response was filtered.")
    error = msgspec.json.decode(azure.render_refusal(refusal, "seed").events[0].data)["error"]
    assert error["innererror"]["content_filter_result"]["hate"]["filtered"] is True
    assert azure.error_meaning(400, "content_filter", error["message"]) == "content-filter"


@pytest.mark.parametrize(
    ("surface", "status", "kind"),
    [
        ("openai", 400, "invalid_request_error"), ("openai", 401, "invalid_api_key"),
        ("openai", 404, "model_not_found"), ("openai", 429, "rate_limit_exceeded"), ("openai", 500, "server_error"),
        ("openai", 418, "invalid_request_error"), ("openai", 599, "server_error"), ("azure", 401, "401"),
        ("azure", 429, "RateLimitReached"), ("github", 413, "tokens_limit_reached"), ("github", 401, "unauthorized"),
        ("copilot", 402, "quota_exceeded"), ("copilot", 403, "forbidden"), ("zai", 429, "1302"), ("zai", 503, "1305"),
        ("zai", 418, "1210"), ("ollama", 401, "api_error"), ("ollama", 404, "not_found_error"),
    ],
)  # fmt: skip
def test_each_status_has_its_kind_on_each_surface(surface: str, status: int, kind: str) -> None:
    assert SURFACES[surface].error_kind(status)[0] == kind


def test_an_unknown_model_of_the_list_is_refused_by_address() -> None:
    request = HttpRequest("GET", "/v1/models/gpt-9", {}, {"authorization": f"Bearer {KEY}"}, b"")
    call = DIALECT.parse(request, world())
    assert isinstance(call, Call)
    assert [each.rule for each in DIALECT.validate(request, call, world())] == [rules.UNKNOWN_MODEL]
