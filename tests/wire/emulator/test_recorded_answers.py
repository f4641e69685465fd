"""A recorded answer of a scenario is sent as it came, where the same API is asked for the same form of answer."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from turnproof.dialects import dialect
from turnproof.errors import ScenarioError
from turnproof.scenarios import from_data
from turnproof.wire.emulator import EmulatorServer, ScriptResponder

BODY = (
    '{"id":"chatcmpl-real","object":"chat.completion","created":1760000000,"model":"gpt-4.1-2025-04-14","choices":'
    '[{"index":0,"message":{"role":"assistant","content":"At 41 %."},"finish_reason":"stop"}],'
    '"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12},"x_of_the_day":true}'
)
RECORDED = {"body": BODY, "asked": "completions", "headers": {"content-type": "application/json"}}
LIMIT = {
    "body": '{"error":{"message":"Slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}',
    "asked": "completions",
    "status": 429,
    "headers": {"content-type": "application/json"},
}


def ask(server: EmulatorServer, recorded: dict[str, Any], *, wire: str = "openai-chat", stream: bool = False) -> Any:
    """What a client is answered that asks for the first round."""
    failed = recorded.get("status", 200) >= 400
    data = {
        "title": "Recorded",
        "origin": {"host": "api.openai.com", "dialect": "openai-chat"},
        "turns": [
            {
                "user": "How moist?",
                "model": [{"parts": [] if failed else ["At 41 %."], "recorded": recorded}],
                **({"expect": "error"} if failed else {}),
            }
        ],
    }
    scenario = from_data(data, "imported/x")
    run = server.open_run(dialect(wire), ScriptResponder(origin=scenario.origin), any_key=True)
    run.arm(0, scenario.turns[0])
    body = {"messages": [{"role": "user", "content": "How moist?"}], "stream": stream, "max_tokens": 99}
    headers = {"authorization": "Bearer x", "x-api-key": "x", "anthropic-version": "2023-06-01"}
    path, model = ("/v1/messages", "claude-sonnet-4-6") if wire == "anthropic-messages" else ("", "gpt-4.1")
    url = run.base_url.rstrip("/") + (path or "/chat/completions")
    url = url.replace("/v1/v1/", "/v1/")
    answer = httpx.post(url, json={**body, "model": model}, headers=headers)
    return answer, run.exchanges[0]


def test_the_bytes_are_those_that_were_recorded(server: EmulatorServer) -> None:
    answer, exchange = ask(server, RECORDED)

    assert answer.text == BODY
    assert exchange.origin == "recorded"


def test_another_mode_gets_the_words_from_the_emulator(server: EmulatorServer) -> None:
    answer, exchange = ask(server, RECORDED, stream=True)

    assert "chatcmpl-real" not in answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert exchange.origin == ""


def test_another_form_of_the_same_api_gets_the_words_from_the_emulator(server: EmulatorServer) -> None:
    answer, exchange = ask(server, {**RECORDED, "asked": "generate"})

    assert json.loads(answer.text)["choices"][0]["message"]["content"] == "At 41 %."
    assert exchange.origin == ""


def test_another_api_gets_the_words_in_its_own_form(server: EmulatorServer) -> None:
    answer, exchange = ask(server, RECORDED, wire="anthropic-messages")

    assert json.loads(answer.text)["content"] == [{"type": "text", "text": "At 41 %."}]
    assert exchange.origin == ""


def test_a_recorded_failure_is_a_failure(server: EmulatorServer) -> None:
    answer, exchange = ask(server, LIMIT)

    assert (answer.status_code, answer.json()["error"]["message"]) == (429, "Slow down")
    assert (exchange.fault, exchange.origin) == ("status-429", "recorded")


def test_another_api_fails_with_the_same_status_in_its_own_words(server: EmulatorServer) -> None:
    answer, exchange = ask(server, LIMIT, wire="anthropic-messages")

    assert (answer.status_code, answer.json()["error"]["type"]) == (429, "rate_limit_error")
    assert (exchange.fault, exchange.origin) == ("status-429", "")


@pytest.mark.parametrize("origin", [None, {"host": "h", "dialect": "nonsense"}, {"host": "h"}])
def test_a_recorded_answer_needs_to_say_where_it_comes_from(origin: Any) -> None:
    data = {
        "title": "T",
        "turns": [{"user": "a", "model": [{"parts": ["b"], "recorded": RECORDED}]}],
        **({"origin": origin} if origin else {}),
    }
    with pytest.raises(ScenarioError, match=r"origin|dialect"):
        from_data(data, "imported/x")
