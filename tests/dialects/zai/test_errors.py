"""Errors of Z.ai's Anthropic-compatible endpoint: their envelopes, alone and through the SDK. Anthropic's rules
are not among its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import anthropic
import msgspec
import pytest

from turnproof.dialects.base import Evidence, Refusal
from turnproof.dialects.zai import DIALECT, rules
from turnproof.dialects.zai.parse import BASE_PATH
from turnproof.wire.emulator import EmulatorServer

from ..anthropic_messages.asks import Ask, Pair
from ..anthropic_messages.builders import KEY
from ..anthropic_messages.refusals import judge as judge_as_anthropic
from ..anthropic_sdk import SdkClient, sdk_client
from ..refusals import Accepted
from .refusals import ACCEPTED, PAIRS, ask, judge, world

encode = msgspec.json.encode


@pytest.mark.parametrize("case", [case for case in ACCEPTED if case.id != "unknown-beta"], ids=attrgetter("id"))
def test_what_this_service_accepts_is_refused_by_anthropic(case: Accepted[Ask]) -> None:
    as_anthropic = Ask({**case.ask.body, "model": "claude-sonnet-4-5"}, headers=case.ask.headers)
    assert any(each.enforced for each in judge_as_anthropic(as_anthropic))


def test_no_rule_rests_on_a_recording() -> None:
    assert {rule.evidence for rule in rules.ALL} == {Evidence.ISSUE, Evidence.DOCUMENTED, Evidence.INFERRED}


# -- in which shape


def body_of(refusal: Refusal, seed: str = "s") -> Any:
    rendered = DIALECT.render_refusal(refusal, seed)
    assert rendered.status == refusal.status
    return msgspec.json.decode(rendered.events[0].data)


def refusal(status: int, kind: str, message: str = "No.", **more: Any) -> Refusal:
    return Refusal(rules.RATE_LIMIT, status, kind, message, **more)


def test_an_error_of_the_model_comes_in_the_envelope_of_anthropic_with_a_code() -> None:
    body = body_of(refusal(429, "1113", "Insufficient balance"), seed="1")
    assert body["type"] == "error"
    assert (body["error"]["type"], body["error"]["code"]) == ("rate_limit_error", "1113")
    assert body["request_id"].startswith("2026")


def test_an_error_of_the_gateway_has_no_type() -> None:
    body = body_of(refusal(429, "1302", "Rate limit reached for requests"))
    assert body == {
        "error": {"code": "1302", "message": "Rate limit reached for requests"}, "request_id": body["request_id"],
    }  # fmt: skip


def test_a_wrong_route_is_told_under_status_200() -> None:
    found = judge(Ask(path="/api/anthropic/v1/complete"))[0]
    assert body_of(found) == {"code": 500, "msg": "404 NOT_FOUND", "success": False}


def test_unavailable_is_an_error_that_is_a_text() -> None:
    kind, message = DIALECT.error_kind(503)
    assert body_of(refusal(503, kind, message)) == {"error": "DNS resolution failure"}


def test_messages_are_wrapped_together_with_the_code_at_times_and_read_alike() -> None:
    bodies = [body_of(refusal(400, "1261", "Prompt exceeds max length"), str(seed)) for seed in range(12)]
    heads = {each["error"]["message"].count("[") for each in bodies}
    assert heads == {0, 2, 3}
    for body in bodies:
        answer = DIALECT.read_response(400, {}, encode(body))
        assert (answer.error_kind, answer.error_message) == ("1261", "Prompt exceeds max length")


def test_the_service_names_no_time_to_wait_unless_the_script_does() -> None:
    assert "retry-after" not in DIALECT.render_refusal(refusal(429, "1302"), "s").headers
    assert DIALECT.render_refusal(refusal(429, "1302", retry_after=2.0), "s").headers["retry-after"] == "2"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 429, 500, 502, 503, 529])
def test_each_status_has_a_code_that_is_read_back(status: int) -> None:
    kind, message = DIALECT.error_kind(status)
    rendered = DIALECT.render_refusal(refusal(status, kind, message), "s")
    answer = DIALECT.read_response(status, rendered.headers, rendered.events[0].data)
    assert (answer.error_kind or "", answer.error_message) == (kind, message)


# -- through the SDK


@pytest.fixture(scope="module")
def service(server: EmulatorServer) -> Iterator[SdkClient]:
    with sdk_client(server, DIALECT, world(), KEY, BASE_PATH) as client:
        yield client


SENDABLE = [
    pair
    for pair in PAIRS
    if pair.illegal.method == "POST" and pair.illegal.raw is None and pair.rule not in ("missing-key", "wrong-route")
]


@pytest.mark.parametrize("pair", SENDABLE, ids=attrgetter("id"))
def test_the_sdk_raises_the_refusal_and_not_for_its_neighbour(pair: Pair, service: SdkClient) -> None:
    if pair.enforced:
        with pytest.raises(anthropic.APIStatusError) as raised:
            service.send(pair.illegal.request())
        body: Any = raised.value.body
        assert (raised.value.status_code, body["error"]["code"]) == (pair.status, pair.kind)
        assert pair.message in body["error"]["message"]
    else:
        assert service.send(pair.illegal.request()).status_code == 200
    assert service.send(pair.legal.request()).status_code == 200


def test_the_sdk_takes_the_error_of_a_wrong_route_for_an_answer(service: SdkClient) -> None:
    """A base URL without `/api/anthropic` is not refused: what comes is a message without anything of one."""
    body = ask().body
    elsewhere = service.client.with_options(base_url=str(service.client.base_url).replace(BASE_PATH, ""))
    message: Any = elsewhere.messages.create(
        model=body["model"], max_tokens=body["max_tokens"], messages=body["messages"]
    )
    assert message.type is None
    assert message.content is None
