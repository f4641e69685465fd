"""Opening, asking about the service, closing; and the binding that does it for turnproof."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import openai
import pytest

from turnproof.errors import AuthenticationError
from turnproof.messages import Message
from turnproof_adapters.openai.binding import BINDING
from turnproof_adapters.openai.legacy import OpenAILegacy
from turnproof_adapters.openai.models import model, same_model
from turnproof_adapters.openai.stateless import OpenAIStateless

from ..contract.silence import OPTIONS_AND_SILENCE, assert_silence
from .kit import DATED, KEY, KIT, MODEL, URL, Capture, legacy, stateless

OPENERS = pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
HI = [Message.user("hi")]


def ask(provider: OpenAIStateless | OpenAILegacy) -> None:
    """One question, on whichever path."""
    if isinstance(provider, OpenAIStateless):
        provider.complete(HI)
    else:
        provider.send_message("hi")


@OPENERS
def test_models_are_listed_in_the_services_order(opened: Any) -> None:
    capture = Capture()
    assert opened(URL, transport=capture.transport).list_models() == ["a", "b"]
    assert str(capture.requests[0].url) == f"{URL}/models"


def test_images_and_documents_are_claimed_where_a_model_takes_them() -> None:
    for name in KIT.models:
        claims, facts = BINDING.claims(name), model(name)
        assert (claims.images, claims.result_images, claims.documents) == (facts.images, facts.images, facts.documents)


def test_thinking_is_claimed_where_it_is_shown() -> None:
    assert [name for name in ("gpt-5-mini", "o3", "gpt-4.1", "glm-4.7") if BINDING.claims(name).thinking] == ["glm-4.7"]


def test_the_window_of_a_model_of_another_service_is_a_setting() -> None:
    assert stateless(URL, "qwen3", context_tokens=40_960).get_context_limit() == 40_960


@pytest.mark.parametrize(
    ("name", "known", "thinks", "structured", "images", "window"),
    [
        ("gpt-3.5-turbo", True, False, False, False, 16_385),
        ("gpt-4-0613", True, False, False, False, 8_192),
        ("gpt-4-turbo-2024-04-09", True, False, False, True, 128_000),
        ("gpt-4o-2024-05-13", True, False, False, True, 128_000),
        ("gpt-4o-mini", True, False, True, True, 128_000),
        ("chatgpt-4o-latest", True, False, True, True, 128_000),
        (DATED, True, False, True, True, 1_047_576),
        ("o1-mini", True, False, False, False, 128_000),
        ("o3-mini-2025-01-31", True, True, True, False, 200_000),
        ("o4-mini", True, True, True, True, 200_000),
        ("gpt-5", True, True, True, True, 400_000),
        ("gpt-5.4-mini-2026-03-17", True, True, True, True, 400_000),
        ("gpt-5-chat-latest", True, False, True, True, 128_000),
        ("openai/gpt-5-mini", True, True, True, True, 400_000),
        ("gpt-6-astra", True, True, True, True, 0),
        ("gpt-oss:20b", False, True, True, True, 0),
        ("glm-4.7", False, True, True, True, 0),
    ],
)
def test_features_follow_from_a_models_name(
    name: str, known: bool, thinks: bool, structured: bool, images: bool, window: int
) -> None:
    facts = model(name)
    assert (facts.known, facts.thinks, facts.structured, facts.images) == (known, thinks, structured, images)
    assert facts.context_tokens == window


def test_an_alias_and_its_dated_id_are_one_model() -> None:
    assert same_model(MODEL, DATED)
    assert same_model("glm-4.7", "glm-4.7")
    assert not same_model(MODEL, "gpt-4.1-mini-2025-04-14")


def test_tokens_are_estimated_where_no_service_counts_them() -> None:
    capture = Capture()
    assert stateless(URL, transport=capture.transport).count_tokens([Message.user("word " * 100)]) > 50
    assert not capture.requests
    assert not BINDING.claims().count_tokens


@OPENERS
@OPTIONS_AND_SILENCE
def test_a_call_and_a_question_give_up_after_as_much_silence_as_they_were_told_to(
    opened: Any, options: dict[str, Any], silence: float
) -> None:
    capture = Capture()
    provider = opened(URL, transport=capture.transport, **options)
    ask(provider)
    provider.verify_auth()
    assert_silence(capture.requests, silence, connect=10)


@OPENERS
def test_without_an_address_the_api_itself_is_asked(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid")
    capture = Capture()
    provider = opened(URL)
    provider.initialize({"api_key": KEY, "transport": capture.transport})
    provider.verify_auth()
    assert str(capture.requests[-1].url) == "https://api.openai.com/v1/models"


def test_the_key_may_come_from_the_environment_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    capture, provider = Capture(), OpenAIStateless()
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(AuthenticationError, match="OPENAI_API_KEY"):
        provider.initialize({})
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    provider.initialize({"transport": capture.transport})
    provider.verify_auth()
    provider.initialize({"transport": capture.transport, "api_key": KEY})
    provider.verify_auth()
    assert [each.headers["authorization"] for each in capture.requests] == [
        "Bearer sk-of-the-environment",
        f"Bearer {KEY}",
    ]


def test_the_binding_names_its_sdk_and_its_difference() -> None:
    assert (BINDING.name, BINDING.dialect) == ("openai", "openai-chat")
    assert stateless(URL).telemetry_name == legacy(URL).telemetry_name == "openai"
    assert version(BINDING.package or "") == openai.__version__
    (declared,) = BINDING.declared
    assert declared.name == "error-words"
    assert declared.reason.endswith(" are the same.")
