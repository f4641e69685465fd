"""Settings and where they may come from, and the questions that have to do with no conversation."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import AuthenticationError, OverloadedError, ProviderError, UsageError
from turnproof.messages import Message, ToolSchema
from turnproof.provider import Endpoint
from turnproof_adapters.antigravity.binding import BINDING
from turnproof_adapters.antigravity.gateway import HOSTS
from turnproof_adapters.antigravity.models import model
from turnproof_adapters.antigravity.request import base
from turnproof_adapters.antigravity.stateless import AntigravityStateless

from .emulated_gateway import Gateway
from .kit import CLAUDE, GEMINI, GPT, KEY, OLD, PATHS, STREAMED, URL, Capture, asking, stateless

HI = [Message.user("hi")]


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_CLOUD_ACCESS_TOKEN", "CODE_ASSIST_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)


def opened(**config: Any) -> tuple[AntigravityStateless, Capture]:
    """A provider with nothing but these settings."""
    capture, provider = Capture(), AntigravityStateless()
    provider.initialize({"transport": capture.transport, "project": "p", **config})
    provider.connect(GEMINI)
    return provider, capture


def test_a_token_comes_from_the_settings_or_from_the_environment_and_from_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(AuthenticationError, match="GOOGLE_CLOUD_ACCESS_TOKEN"):
        AntigravityStateless().initialize({})
    monkeypatch.setenv("GOOGLE_CLOUD_ACCESS_TOKEN", "ya29.env")
    for config, expected in (({}, "ya29.env"), ({"api_key": ""}, "ya29.env"), ({"api_key": KEY}, KEY)):
        provider, capture = opened(base_url=URL, **config)
        provider.complete(HI)
        assert capture.requests[0].headers["authorization"] == f"Bearer {expected}"


def test_hosts_come_from_the_settings_the_environment_or_are_those_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first(**config: Any) -> str:
        provider, capture = opened(api_key=KEY, **config)
        provider.complete(HI)
        return str(capture.requests[0].url).partition("/v1internal")[0]

    assert first() == HOSTS[0]
    assert first(fallback_urls=["http://b.invalid"]) == "http://b.invalid"
    monkeypatch.setenv("CODE_ASSIST_ENDPOINT", "http://env.invalid")
    assert first() == "http://env.invalid"
    assert first(base_url=URL, fallback_urls=["http://b.invalid"]) == URL


@pytest.mark.parametrize(
    "address",
    [URL, f"{URL}/", f"{URL}//", f"{URL}/v1internal", f"{URL}/v1internal/", f"{URL}/v1", f"{URL}/v1/", f"{URL}/v1beta"],
)
@PATHS
@STREAMED
def test_an_address_may_end_as_it_likes(address: str, path: str, streamed: bool) -> None:
    capture = Capture()
    asking(path, address, streamed=streamed, transport=capture.transport)()
    assert str(capture.requests[0].url).startswith(f"{URL}/v1internal:")


def test_a_folder_of_an_address_stays() -> None:
    assert base("http://a/daily") == "http://a/daily"
    assert base("http://a/v1internal/daily/") == "http://a/v1internal/daily"
    assert base("http://v1/") == "http://v1"


def test_refresh_tokens_need_the_program_they_were_issued_to() -> None:
    account = {"refresh_token": "1//secret"}
    for config in ({}, {"client_id": "c"}, {"client_secret": "s"}):
        with pytest.raises(UsageError, match="client_id and client_secret") as failure:
            AntigravityStateless().initialize({"accounts": [account], **config})
        assert "secret" not in str(failure.value).replace("client_secret", "")
    AntigravityStateless().initialize({"accounts": [{"access_token": KEY}]})


@pytest.mark.parametrize(
    ("setting", "value"),
    [("max_tokens", 0), ("max_tokens", "9"), ("thinking", {"tokens": 1}), ("accounts", [7]), ("accounts", "x")],
)
def test_settings_that_are_none_are_refused_and_leave_the_provider_as_it_was(setting: str, value: Any) -> None:
    provider, capture = opened(api_key=KEY, base_url=URL)
    with pytest.raises(UsageError, match=setting):
        provider.initialize({"api_key": KEY, setting: value})
    if setting == "accounts":
        provider.complete(HI)
        assert capture.requests


def test_thinking_can_be_switched_on_and_off() -> None:
    provider, capture = opened(api_key=KEY, base_url=URL)
    provider.set_thinking_config({"budget_tokens": 64})
    provider.complete(HI)
    assert capture.request["generationConfig"]["thinkingConfig"]["thinkingBudget"] == 64
    provider.set_thinking_config(None)
    provider.complete(HI)
    assert "generationConfig" not in capture.request


# -- models


@pytest.mark.parametrize(
    ("name", "thinks", "window", "structured", "demands"),
    [
        (GEMINI, True, 1_048_576, True, True),
        ("gemini-3-pro-high", True, 1_048_576, True, True),
        (OLD, True, 1_048_576, False, False),
        (CLAUDE, True, 200_000, False, False),
        ("claude-sonnet-4-5", False, 200_000, False, False),
        ("claude-sonnet-4-5-thinking", True, 200_000, False, False),
        ("claude-opus-4-6-thinking", True, 200_000, False, False),
        ("claude-of-tomorrow", True, 200_000, False, False),
        (GPT, False, 131_072, False, False),
        ("", False, 131_072, False, False),
    ],
)
def test_what_is_known_of_a_model_by_its_name(
    name: str, thinks: bool, window: int, structured: bool, demands: bool
) -> None:
    facts = model(name)
    assert (facts.thinks, facts.context_tokens, facts.demands_signatures) == (thinks, window, demands)
    provider = stateless(model=name)
    assert provider.get_context_limit() == window
    assert provider.supports_thinking() is thinks
    assert provider.supports_structured_output() is structured
    assert provider.supports_streaming()
    assert provider.supports_stop()
    assert model(None) == model("")


def test_a_change_of_model_is_one_of_the_next_request() -> None:
    provider, capture = opened(api_key=KEY, base_url=URL)
    provider.connect(CLAUDE)
    provider.complete(HI)
    assert capture.body["model"] == CLAUDE


# -- questions


def test_models_are_those_that_the_service_lists() -> None:
    capture = Capture()
    assert stateless(transport=capture.transport).list_models() == [GEMINI, CLAUDE]
    (request,) = capture.requests
    assert (request.method, str(request.url)) == ("POST", f"{URL}/v1internal:fetchAvailableModels")
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_prompt_is_counted_whole_although_the_service_counts_contents_alone() -> None:
    capture = Capture()
    provider = stateless(transport=capture.transport)
    assert provider.count_tokens(HI) == 42
    content = {"role": "user", "parts": [{"text": "hi"}]}
    assert capture.body == {"request": {"model": f"models/{GEMINI}", "contents": [content]}}
    assert provider.count_tokens(HI, "rules", [ToolSchema("gate")]) == 42
    around, last_content = capture.request["contents"]
    assert around["parts"][0] == {"text": "rules"}
    assert '"name":"gate"' in around["parts"][1]["text"]
    assert last_content == content


def test_a_count_that_is_missing_is_none(httpx2_mock: Any) -> None:
    httpx2_mock.route().respond(json={})
    assert stateless().count_tokens(HI) == 0


def test_an_account_that_the_service_knows_is_told_from_one_it_does_not(gateway: Gateway) -> None:
    assert gateway.opened("stateless", "main").verify_auth()
    assert gateway.opened("legacy", "revoked", "main").verify_auth()
    assert not gateway.opened("stateless", "revoked").verify_auth()
    assert not gateway.opened("stateless", accounts=[{"access_token": "ya29.never"}]).verify_auth()
    with pytest.raises(OverloadedError):
        gateway.opened("stateless", "main", host="down-503").verify_auth()


def test_a_longer_prompt_counts_more_and_system_text_and_tools_count_too(gateway: Gateway) -> None:
    provider = gateway.opened("stateless", "main")
    short = provider.count_tokens(HI)
    assert provider.count_tokens([Message.user("hi " * 50)]) > short + 20
    assert provider.count_tokens(HI, "You watch a canal.", [ToolSchema("gate", "State of a gate")]) > short + 5
    assert GEMINI in provider.list_models()


def test_an_unknown_model_cannot_be_counted_for(gateway: Gateway) -> None:
    with pytest.raises(ProviderError) as failure:
        gateway.opened("stateless", "main", model="nope").count_tokens(HI)
    assert failure.value.status == 404


def test_the_service_has_a_name_of_the_conventions() -> None:
    assert BINDING.open_stateless is not None
    assert BINDING.open_stateless(Endpoint(URL, KEY, GEMINI)).telemetry_name == "gcp.gen_ai"
