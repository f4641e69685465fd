"""Opening, asking about the service, what is sent around a conversation, and the binding that does it for turnproof."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import AuthenticationError, InvalidRequestError, OverloadedError, TransportError, UsageError
from turnproof.messages import FunctionCall, InlineData, Message, ToolResult
from turnproof_adapters.zai.binding import BINDING
from turnproof_adapters.zai.models import model, same_model
from turnproof_adapters.zai.stateless import ZaiStateless

from ..call_modes import HI, fixed_answer
from .kit import KEY, MODEL, Service, legacy, stateless

OPENERS = pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])


def sent(provider: Any, service: Service, **kwargs: Any) -> Any:
    """The body of one request of either path."""
    if isinstance(provider, ZaiStateless):
        provider.complete(HI, **kwargs)
    else:
        provider.create_session()
        provider.send_message("hi")
    return service.body


@pytest.mark.parametrize(
    ("set_to", "used"),
    [
        ({"ZAI_API_KEY": "one"}, "one"),
        ({"ZHIPUAI_API_KEY": "two"}, "two"),
        ({"ZAI_API_KEY": "one", "ZHIPUAI_API_KEY": "two"}, "one"),
    ],
    ids=["zai", "zhipuai", "both"],
)
def test_the_key_comes_from_the_settings_or_from_the_services_variables(
    set_to: dict[str, str], used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"ANTHROPIC_API_KEY": "foreign", "ANTHROPIC_BASE_URL": "http://foreign.invalid"}.items():
        monkeypatch.setenv(name, value)
    for name in ("ZAI_API_KEY", "ZHIPUAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    provider = ZaiStateless()
    with pytest.raises(AuthenticationError, match="ZAI_API_KEY or ZHIPUAI_API_KEY"):
        provider.initialize({})
    for name, value in set_to.items():
        monkeypatch.setenv(name, value)
    service = Service()
    for config, key in (({}, used), ({"api_key": KEY}, KEY)):
        provider.initialize({**config, "transport": service.transport})
        provider.connect(MODEL)
        provider.complete(HI)
        request = service.requests[-1]
        assert request.headers["authorization"] == f"Bearer {key}"
        assert str(request.url) == "https://api.z.ai/api/anthropic/v1/messages"


@OPENERS
def test_the_models_of_the_service_are_listed(opened: Any) -> None:
    listing = {"data": [{"type": "model", "id": name} for name in ("glm-5.3", "glm-4.7")], "has_more": False}
    assert opened(transport=fixed_answer(json=listing)).list_models() == ["glm-5.3", "glm-4.7"]
    assert opened(transport=fixed_answer(json={"data": []})).list_models() == []


@OPENERS
def test_a_key_is_verified_by_what_the_answer_says_and_not_by_its_status(opened: Any) -> None:
    """Trouble with a key may come under status 200, where the SDK sees an empty list."""
    assert opened(transport=fixed_answer(json={"data": [], "has_more": False})).verify_auth()
    for refused in (
        fixed_answer(json={"code": 401, "msg": "token expired or incorrect", "success": False}),
        fixed_answer(401, json={"error": {"code": "1000", "message": "Authentication Failed"}}),
    ):
        assert not opened(transport=refused).verify_auth()
        with pytest.raises(AuthenticationError):
            opened(transport=refused).list_models()
    with pytest.raises(InvalidRequestError, match="404 NOT_FOUND"):
        opened(transport=fixed_answer(json={"code": 500, "msg": "404 NOT_FOUND", "success": False})).verify_auth()
    with pytest.raises(OverloadedError):
        opened(transport=fixed_answer(503, json={"error": "DNS resolution failure"})).verify_auth()
    with pytest.raises(TransportError):
        opened(transport=fixed_answer(html="<html></html>")).list_models()


@OPENERS
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, None),
        ({"thinking": None}, {"type": "disabled"}),
        ({"thinking": {"type": "disabled"}}, {"type": "disabled"}),
        ({"thinking": {"type": "adaptive"}}, None),
        ({"thinking": {"type": "enabled"}}, {"type": "enabled"}),
        ({"thinking": {"budget_tokens": 100}}, {"type": "enabled", "budget_tokens": 100}),
    ],
    ids=repr,
)
def test_thinking_is_on_unless_it_is_switched_off(opened: Any, options: dict[str, Any], expected: Any) -> None:
    service = Service()
    provider = opened(transport=service.transport, **options)
    assert sent(provider, service).get("thinking") == expected
    provider.set_thinking_config(None)
    assert sent(provider, service)["thinking"] == {"type": "disabled"}
    assert service.body["max_tokens"] == 8192


@pytest.mark.parametrize("config", [{"type": "hard"}, {"budget_tokens": 0}, {"budget_tokens": "9"}], ids=repr)
def test_a_thinking_configuration_that_means_nothing_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^thinking: "):
        stateless().set_thinking_config(config)


def test_a_tool_loop_that_began_without_thinking_may_think() -> None:
    """Nothing says that this service minds."""
    service = Service()
    provider = stateless(transport=service.transport, thinking={"budget_tokens": 2000})
    provider.complete([*HI, Message.model(FunctionCall("a", "read", {})), Message.tool(ToolResult("a", "read", "ok"))])
    assert service.body["thinking"] == {"type": "enabled", "budget_tokens": 2000}


def test_files_go_as_they_do_to_anthropic() -> None:
    """What a model cannot see its service refuses."""
    service = Service()
    stateless(transport=service.transport).complete([Message("user", (InlineData("image/png", b"\x89"),))])
    assert service.body["messages"][0]["content"][0]["source"]["media_type"] == "image/png"


@pytest.mark.parametrize(
    ("name", "window", "thinks", "sees"),
    [
        ("glm-5.3", 1_000_000, True, False),
        ("glm-5.2", 1_000_000, True, False),
        ("glm-5", 200_000, True, False),
        ("glm-5.1", 200_000, True, False),
        ("GLM-4.7", 200_000, True, False),
        ("glm-4.7-flash", 200_000, True, False),
        ("glm-4.6", 200_000, True, False),
        ("glm-4.6v", 131_072, True, True),
        ("glm-4.5v", 131_072, True, True),
        ("glm-4.5-air", 131_072, True, False),
        ("glm-4-plus", 131_072, False, False),
        ("claude-sonnet-4-5", 1_000_000, True, False),
    ],
)
def test_a_models_name_tells_what_it_can_do(name: str, window: int, thinks: bool, sees: bool) -> None:
    facts, claims, provider = model(name), BINDING.claims(name), stateless(model=name)
    assert (facts.context_tokens, facts.thinks, facts.sees) == (window, thinks, sees)
    assert (provider.get_context_limit(), provider.supports_thinking()) == (window, thinks)
    assert (claims.thinking, claims.images, claims.result_images) == (thinks, sees, sees)


def test_a_model_has_one_name_however_it_is_written() -> None:
    assert same_model("GLM-4.7", "glm-4.7")
    assert not same_model("glm-4.7", "glm-4.7-flash")
