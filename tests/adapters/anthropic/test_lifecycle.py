"""Opening, asking about the service, closing; and the binding that does it for turnproof."""

from __future__ import annotations

from dataclasses import fields
from importlib.metadata import version
from typing import Any

import anthropic
import httpx2
import pytest

from turnproof.cache import ExplicitCachePlugin
from turnproof.errors import UsageError
from turnproof.messages import Message, ToolSchema
from turnproof_adapters._http import Connection, shared_tls
from turnproof_adapters.anthropic.binding import BINDING
from turnproof_adapters.anthropic.client import open_client
from turnproof_adapters.anthropic.legacy import AnthropicLegacy
from turnproof_adapters.anthropic.models import model, same_model
from turnproof_adapters.anthropic.stateless import AnthropicStateless

from ..contract.silence import OPTIONS_AND_SILENCE, assert_silence
from ..scripted_server import Exchange, scripted
from .kit import DATED, KEY, KIT, MODEL, Capture, legacy, stateless

pytestmark = pytest.mark.filterwarnings("ignore:The model .* is deprecated:DeprecationWarning")
OPENERS = pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])


def ask(provider: AnthropicStateless | AnthropicLegacy) -> None:
    """One question, on whichever path."""
    if isinstance(provider, AnthropicStateless):
        provider.complete([Message.user("hi")])
    else:
        provider.send_message("hi")


@OPENERS
def test_all_pages_of_models_are_listed(opened: Any) -> None:
    def page(exchange: Exchange) -> None:
        more = "after_id" not in exchange.path
        names = ["a", "b"] if more else ["c"]
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names
        ]
        exchange.answer({"data": data, "has_more": more, "first_id": names[0], "last_id": names[-1]})

    with scripted(page) as server:
        assert opened(server.url).list_models() == ["a", "b", "c"]
        assert "limit=1000" in server.requests[0].path, "as few pages as the API allows"
        assert all(exchange.path.startswith("/v1/models") for exchange in server.requests)


@OPENERS
def test_tokens_are_counted_by_the_service_for_the_prompt_that_would_be_sent(opened: Any) -> None:
    capture = Capture()
    provider = opened("http://example.invalid", transport=capture.transport, max_tokens=100)
    assert provider.count_tokens([Message.user("hi")], "rules", [ToolSchema("a.b")]) == 42
    assert capture.requests[-1].url.path == "/v1/messages/count_tokens"
    assert set(capture.body) == {"model", "messages", "system", "tools"}


def test_thinking_documents_and_instructions_between_turns_are_claimed_where_a_model_takes_them() -> None:
    for name in KIT.models:
        claims, facts = BINDING.claims(name), model(name)
        assert claims.thinking == claims.opaque_thinking == facts.thinks
        assert (claims.mid_system, claims.documents) == (facts.mid_system, facts.documents)


def test_everything_there_is_to_claim_is_claimed_for_a_current_model() -> None:
    """What is not claimed is not certified: nothing of this API may go unmeasured. It keeps no conversation."""
    claims = BINDING.claims("claude-opus-5")
    unclaimed = {each.name for each in fields(claims) if getattr(claims, each.name) is not True}
    assert unclaimed == {"cache", "wire", "chain", "websocket", "chain_deletion", "background", "window"}
    assert claims.cache == "explicit"


@pytest.mark.parametrize(
    ("name", "thinks", "structured", "mid_system", "prefill", "window", "room"),
    [
        ("claude-3-haiku-20240307", False, False, False, True, 200_000, 4096),
        ("claude-3-5-sonnet-20241022", False, False, False, True, 200_000, 8192),
        ("claude-3-7-sonnet-latest", True, False, False, True, 200_000, 8192),
        ("claude-sonnet-4-20250514", True, False, False, True, 200_000, 8192),
        ("claude-opus-4-20250514", True, False, False, True, 200_000, 8192),
        ("claude-opus-4-1-20250805", True, True, False, True, 200_000, 8192),
        (DATED, True, True, False, True, 200_000, 8192),
        ("claude-sonnet-4-6", True, True, False, False, 1_000_000, 8192),
        ("claude-opus-4-8", True, True, True, False, 1_000_000, 8192),
        ("claude-haiku-5-5", True, True, True, False, 200_000, 8192),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", True, True, False, True, 200_000, 8192),
        ("a-model-of-tomorrow", True, True, True, False, 1_000_000, 8192),
    ],
)
def test_features_follow_from_a_models_name(
    name: str, thinks: bool, structured: bool, mid_system: bool, prefill: bool, window: int, room: int
) -> None:
    facts = model(name)
    assert (facts.thinks, facts.structured) == (thinks, structured)
    assert (facts.mid_system, facts.prefill) == (mid_system, prefill)
    assert (facts.context_tokens, facts.max_tokens) == (window, room)


def test_an_alias_and_its_dated_id_are_one_model() -> None:
    assert same_model(MODEL, DATED)
    assert same_model("claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219")
    assert same_model("claude-sonnet-4-0", "claude-sonnet-4-20250514")
    assert not same_model("claude-sonnet-4-0", "claude-sonnet-4-5-20250929")
    assert not same_model(MODEL, "claude-opus-4-5-20251101")


def test_thinking_can_be_switched_on_and_off() -> None:
    capture = Capture()
    provider = stateless("http://example.invalid", transport=capture.transport)
    for config, sent in (({"budget_tokens": 4096}, {"type": "enabled", "budget_tokens": 4096}), (None, None)):
        provider.set_thinking_config(config)
        provider.complete([Message.user("hi")])
        assert capture.body.get("thinking") == sent


@pytest.mark.parametrize("value", [0, -1, "many", True, 1.5])
def test_a_limit_that_is_no_number_of_tokens_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match="max_tokens"):
        stateless("http://example.invalid", max_tokens=value)


@OPENERS
def test_a_limit_of_one_token_is_a_limit(opened: Any) -> None:
    capture = Capture()
    ask(opened("http://example.invalid", transport=capture.transport, max_tokens=1))
    assert capture.body["max_tokens"] == 1


@OPENERS
@OPTIONS_AND_SILENCE
def test_the_limit_of_silence_holds_for_questions_about_the_service_as_well(
    opened: Any, options: dict[str, Any], silence: float
) -> None:
    capture = Capture()
    provider = opened("http://example.invalid", transport=capture.transport, **options)
    provider.count_tokens([Message.user("hi")])
    provider.verify_auth()
    assert_silence(capture.requests, silence, connect=min(silence, 10))


@pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
@pytest.mark.parametrize("prefix", ["", "/run/7X"])
def test_the_version_stands_in_the_path_once(prefix: str, suffix: str) -> None:
    capture = Capture()
    stateless(f"http://example.invalid{prefix}{suffix}", transport=capture.transport).complete([Message.user("hi")])
    assert capture.requests[-1].url.path == f"{prefix}/v1/messages"


@OPENERS
def test_without_an_address_the_api_itself_is_asked(opened: Any) -> None:
    capture = Capture()
    provider = opened("http://example.invalid")
    provider.initialize({"api_key": KEY, "transport": capture.transport})
    provider.verify_auth()
    assert capture.requests[-1].url == "https://api.anthropic.com/v1/models?limit=1"


def proxied(client: Any) -> bool:
    return any(transport is not None for transport in client._client._mounts.values())


def test_proxies_of_the_environment_are_for_the_world_and_not_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert proxied(open_client(Connection(), "https://api.anthropic.com", KEY))
    for local in ("http://127.0.0.1:80/run/1", "http://localhost:80", "http://[::1]:80"):
        assert not proxied(open_client(Connection(), local, KEY))


def test_the_environments_key_and_address_are_never_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://elsewhere.invalid")
    capture = Capture()
    stateless("http://example.invalid", transport=capture.transport).complete([Message.user("hi")])
    assert capture.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    assert capture.requests[-1].url.host == "example.invalid"


def test_opening_many_providers_makes_one_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    contexts = []
    original = httpx2.create_ssl_context

    def create(*args: Any, **kwargs: Any) -> Any:
        contexts.append(args)
        return original(*args, **kwargs)

    monkeypatch.setattr(httpx2, "create_ssl_context", create)
    shared_tls.cache_clear()
    for _ in range(3):
        stateless("https://example.invalid").shutdown()
        legacy("https://example.invalid").shutdown()
    assert len(contexts) == 1


def test_the_binding_names_its_sdk_its_difference_and_its_plugin() -> None:
    assert (BINDING.name, BINDING.dialect) == ("anthropic", "anthropic-messages")
    assert version(BINDING.package or "") == anthropic.__version__
    assert BINDING.cache_plugin is not None
    assert isinstance(BINDING.cache_plugin(None), ExplicitCachePlugin)
    (declared,) = BINDING.declared
    assert declared.name == "error-words"
    assert declared.reason.endswith(" are the same.")
