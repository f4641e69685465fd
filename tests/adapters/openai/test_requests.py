"""What leaves the adapter: address, headers, and the fields around the messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.errors import UsageError
from turnproof.messages import Message, ToolSchema, same_history
from turnproof_adapters.openai.client import address
from turnproof_adapters.openai.encode import Encoder
from turnproof_adapters.openai.request import Settings, thinking_effort
from turnproof_adapters.openai.service import OPENAI, Service

from ..callback_recorder import CallbackRecorder
from .histories import arbitrary, ordinary_conversation
from .kit import KEY, MODEL, URL, Capture, arranged, legacy, stateless

HI = [Message.user("hi")]
OPENERS = pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])


def sent(**options: Any) -> Any:
    capture = Capture()
    stateless(URL, options.pop("model", MODEL), transport=capture.transport, **options).complete(HI)
    return capture.body


def test_a_plain_question_is_asked_in_so_many_words() -> None:
    capture = Capture()
    stateless(URL, transport=capture.transport).complete(HI)
    (request,) = capture.requests
    assert (request.method, str(request.url)) == ("POST", f"{URL}/chat/completions")
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.headers["content-type"] == "application/json"
    assert request.content == b'{"model":"gpt-4.1","messages":[{"role":"user","content":"hi"}]}'


def test_a_stream_is_asked_for_with_its_figures() -> None:
    capture = Capture()
    stateless(URL, transport=capture.transport).complete(HI, "rules", [ToolSchema("a")], **CallbackRecorder().callbacks)
    assert list(capture.body) == ["model", "stream", "messages", "stream_options", "tools"]
    assert capture.body["stream_options"] == {"include_usage": True}
    assert capture.body["messages"][0] == {"role": "system", "content": "rules"}


@pytest.mark.parametrize(
    ("model", "options", "field"),
    [
        ("gpt-4.1", {}, "max_completion_tokens"),
        ("o3-mini", {}, "max_completion_tokens"),
        ("glm-4.7", {}, "max_tokens"),
        ("glm-4.7", {"limit_field": "max_completion_tokens"}, "max_completion_tokens"),
        ("gpt-4.1", {"limit_field": "max_tokens"}, "max_tokens"),
    ],
)
def test_the_limit_stands_under_the_name_that_the_service_knows(model: str, options: Any, field: str) -> None:
    assert sent(model=model, max_tokens=99, **options)[field] == 99


@pytest.mark.parametrize(
    ("config", "effort"),
    [
        (None, None),
        ({"type": "disabled"}, None),
        ({"effort": "minimal"}, "minimal"),
        ({"effort": "none"}, "none"),
        ({"budget_tokens": 1}, "low"),
        ({"budget_tokens": 1024}, "low"),
        ({"budget_tokens": 1025}, "medium"),
        ({"budget_tokens": 2048}, "medium"),
        ({"budget_tokens": 2049}, "high"),
        ({"type": "enabled", "budget_tokens": 9999}, "high"),
    ],
)
def test_thinking_is_asked_for_by_effort_or_by_budget(config: Any, effort: str | None) -> None:
    assert thinking_effort(config) == effort
    assert sent(model="gpt-5-mini", thinking=config).get("reasoning_effort") == effort


@pytest.mark.parametrize("config", [{}, {"effort": 7}, {"effort": ""}, {"budget_tokens": 0}, {"budget_tokens": True}])
def test_a_thinking_configuration_that_says_nothing_is_refused(config: Any) -> None:
    with pytest.raises(UsageError, match="thinking"):
        thinking_effort(config)


def test_a_model_that_does_not_think_is_not_asked_to() -> None:
    assert "reasoning_effort" not in sent(model="gpt-4.1", thinking={"effort": "low"})
    assert sent(model="glm-5.3", thinking={"effort": "high"})["reasoning_effort"] == "high"


@OPENERS
def test_thinking_can_be_changed_between_calls(opened: Any) -> None:
    capture = Capture()
    provider = opened(URL, "gpt-5-mini", transport=capture.transport)
    for config, effort in (({"effort": "high"}, "high"), (None, None)):
        provider.set_thinking_config(config)
        provider.complete(HI) if opened is stateless else provider.send_message("hi")
        assert capture.body.get("reasoning_effort") == effort


@OPENERS
def test_what_an_endpoint_wants_besides_goes_with_every_request(opened: Any) -> None:
    capture = Capture()
    extra = {"thinking": {"type": "enabled", "clear_thinking": False}, "reasoning_effort": "max"}
    provider = opened(
        URL,
        "glm-4.7",
        transport=capture.transport,
        headers={"accept-language": "en"},
        query={"api-version": "2024-10-21"},
        extra_body=extra,
        thinking={"effort": "low"},
    )
    provider.complete(HI) if opened is stateless else provider.send_message("hi")
    provider.list_models()
    for request in capture.requests:
        assert request.headers["accept-language"] == "en"
        assert request.url.params["api-version"] == "2024-10-21"
    body = json.loads(capture.requests[0].content)
    assert body["thinking"] == extra["thinking"]
    assert body["reasoning_effort"] == "max", "a field that the endpoint wants wins"


@pytest.mark.parametrize("name", ["messages", "model", "stream"])
def test_what_belongs_to_the_call_cannot_be_set_from_outside(name: str) -> None:
    with pytest.raises(UsageError, match=name):
        stateless(URL, extra_body={name: 1})


@pytest.mark.parametrize(
    ("option", "value"),
    [("instructions_role", "user"), ("limit_field", "tokens"), ("max_tokens", 0), ("context_tokens", "many")],
)
def test_a_setting_that_is_none_is_refused(option: str, value: Any) -> None:
    with pytest.raises(UsageError, match=option):
        stateless(URL, **{option: value})


@pytest.mark.parametrize(
    ("base_url", "used"),
    [
        (None, "https://api.openai.com/v1"),
        ("https://api.openai.com", "https://api.openai.com/v1"),
        ("https://api.openai.com/", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1"),
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("https://api.z.ai/api/paas/v4/", "https://api.z.ai/api/paas/v4"),
        ("https://x.openai.azure.com/openai/deployments/d", "https://x.openai.azure.com/openai/deployments/d"),
    ],
)
def test_the_version_stands_in_the_path_once(base_url: str | None, used: str) -> None:
    assert address(base_url) == used


# -- once encoded


@pytest.mark.parametrize("seed", range(20))
def test_bytes_say_what_plain_data_says(seed: int) -> None:
    history = [*arbitrary(seed), Message.user("so?")]
    assert [json.loads(each) for each in Encoder(OPENAI, MODEL).arranged(history).finish()] == arranged(history)


def test_a_turn_encodes_its_new_messages_and_not_its_history() -> None:
    provider, history = stateless(URL, transport=Capture().transport), ordinary_conversation(40)
    for n in range(1, len(history) + 1, 2):
        provider.complete(history[:n])
    assert provider.messages_encoded == 39


@pytest.mark.parametrize("seed", range(10))
def test_what_was_encoded_before_changes_no_byte(seed: int) -> None:
    """The same conversation on a fresh object, on one that knows others, and after its memo was dropped."""
    history, other = [*arbitrary(seed), Message.user("so?")], arbitrary(seed + 1)
    capture = Capture()
    provider = stateless(URL, transport=capture.transport)
    for messages in ([*other, HI[0]], history[:1] + HI, history):
        provider.complete(messages)
    provider.forget_encodings()
    provider.complete(history)
    stateless(URL, transport=capture.transport).complete(history)
    assert len({request.content for request in capture.requests[-3:]}) == 1


def test_complete_changes_none_of_its_arguments() -> None:
    history, tools = ordinary_conversation(8), [ToolSchema("b"), ToolSchema("a")]
    before, named = list(history), [tool.name for tool in tools]
    schema: Any = {"type": "object", "properties": {"x": {"type": "object", "properties": {}}}}
    shown = repr(schema)
    stateless(URL, transport=Capture().transport).complete(history, "rules", tools, response_schema=schema)
    assert same_history(history, before)
    assert [tool.name for tool in tools] == named
    assert repr(schema) == shown


def test_settings_made_anew_drop_what_was_encoded_under_the_old_ones() -> None:
    capture = Capture()
    config = {"api_key": KEY, "base_url": URL, "transport": capture.transport}
    provider = stateless(URL)
    provider.initialize(config)
    history = [Message.system("be brief"), *HI]
    for role in ("system", "developer"):
        provider.initialize({**config, "instructions_role": role})
        provider.complete(history)
        assert capture.body["messages"][0]["role"] == role


def test_settings_alone_make_the_fields_of_a_request() -> None:
    settings = Settings("openai/gpt-5", Service(limit="max_tokens"), max_tokens=5, effort="low")
    assert list(settings.fields([ToolSchema("a")], {"type": "string"}, stream=True)) == [
        "max_tokens",
        "reasoning_effort",
        "response_format",
        "stream_options",
        "tools",
    ]
