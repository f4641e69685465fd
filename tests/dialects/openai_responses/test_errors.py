"""Errors of the Responses API, and of Copilot's door to it."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import msgspec
import pytest

from turnproof.dialects.base import Refusal
from turnproof.dialects.openai_responses import DIALECT, rules

from .asks import Ask, Pair, ask, body, copilot
from .builders import OPENING, call, function
from .pairs import PAIRS
from .refusals import judge


def test_no_key_stands_in_a_refusal() -> None:
    key = "sk-proj-0123456789abcdef"
    message = judge(Ask(body(), headers={"authorization": f"Bearer {key}"}))[0].message
    assert key not in message
    assert "***" in message


def test_a_legal_name_may_not_be_judged_twice() -> None:
    assert [each.rule for each in judge(ask(tools=[function("a.b")]))] == [rules.TOOL_NAME]


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.enforced], ids=attrgetter("id"))
def test_an_error_body_has_all_four_members(pair: Pair) -> None:
    first = judge(pair.illegal)[0]
    rendered = DIALECT.render_refusal(first, "seed")
    assert rendered.status == pair.status
    if not pair.illegal.path.startswith("/v1/"):
        return
    error: Any = msgspec.json.decode(rendered.events[0].data)["error"]
    coded = pair.kind not in ("invalid_request_error",)
    assert error["message"] == pair.message
    assert error["type"] == "invalid_request_error"
    assert error["code"] == (pair.kind if coded else None)
    assert error["param"] == pair.param


def test_copilot_says_it_in_its_own_form() -> None:
    refusal = judge(copilot(OPENING, call()))[0]
    assert msgspec.json.decode(DIALECT.render_refusal(refusal, "s").events[0].data) == {
        "error": {"message": "No tool output found for function call call_1.", "code": "invalid_request_body"}
    }
    plain = DIALECT.render_refusal(judge(copilot(editor=None))[0], "s")
    assert plain.headers["content-type"].startswith("text/plain")
    assert plain.events[0].data == b"bad request: missing Editor-Version header for IDE auth"


@pytest.mark.parametrize(
    ("status", "kind", "error_type"),
    [
        (400, "invalid_request_error", "invalid_request_error"), (401, "invalid_api_key", "invalid_request_error"),
        (403, "permission_error", "permission_error"), (404, "not_found_error", "not_found_error"),
        (429, "rate_limit_exceeded", "tokens"), (500, "server_error", "server_error"),
        (503, "server_is_overloaded", "server_error"), (529, "server_error", "server_error"),
        (418, "invalid_request_error", "invalid_request_error"),
    ],
)  # fmt: skip
def test_each_status_has_its_error(status: int, kind: str, error_type: str) -> None:
    found, message = DIALECT.error_kind(status)
    assert found == kind
    refusal = Refusal(rules.RATE_LIMIT, status, found, message, retry_after=2.0)
    rendered = DIALECT.render_refusal(refusal, "s")
    error: Any = msgspec.json.decode(rendered.events[0].data)["error"]
    assert (error["type"], error["param"]) == (error_type, None)
    assert rendered.headers["retry-after"] == "2"
