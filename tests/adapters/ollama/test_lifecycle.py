"""Opening, asking about the server, what is sent to it and what is not, and the binding that does it for turnproof."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnproof.errors import AuthenticationError, InvalidRequestError, OverloadedError, TransportError, UsageError
from turnproof.messages import FileRef, InlineData, Message, Text, ToolResult, ToolSchema
from turnproof_adapters.ollama.binding import BINDING
from turnproof_adapters.ollama.stateless import OllamaStateless

from ..call_modes import HI, fixed_answer
from .kit import KEY, MODEL, URL, Server, legacy, stateless

OPENERS = pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
TAGS = {"models": [{"name": "qwen3:8b"}, {"name": "llama3.2:latest"}]}
SHOWN = {"model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960}}


def send(provider: Any, history: list[Message], **kwargs: Any) -> None:
    """Sends a conversation over either path."""
    if isinstance(provider, OllamaStateless):
        provider.complete(history, **kwargs)
    else:
        provider.create_session(history=history[:-1])
        provider.send_message_with_parts(history[-1].parts, **kwargs)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OLLAMA_HOST", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "foreign")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "foreign")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://foreign.invalid")


@pytest.mark.parametrize(
    ("config", "environment", "url", "key"),
    [
        ({}, {}, "http://127.0.0.1:11434/v1/messages", "ollama"),
        ({"base_url": None, "api_key": ""}, {}, "http://127.0.0.1:11434/v1/messages", "ollama"),
        ({}, {"OLLAMA_HOST": "box:1234"}, "http://box:1234/v1/messages", "ollama"),
        ({"base_url": URL}, {"OLLAMA_HOST": "box:1234"}, f"{URL}/v1/messages", "ollama"),
        ({}, {"OLLAMA_API_KEY": "one"}, "http://127.0.0.1:11434/v1/messages", "one"),
        ({"api_key": KEY}, {"OLLAMA_API_KEY": "one"}, "http://127.0.0.1:11434/v1/messages", KEY),
    ],
    ids=["nothing", "blank", "host", "address-and-host", "key-of-the-environment", "key"],
)
def test_nothing_is_needed_to_reach_a_local_server(
    config: dict[str, Any], environment: dict[str, str], url: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no key of Anthropic's is ever sent to it."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    server, provider = Server(), OllamaStateless()
    provider.initialize({**config, "transport": server.transport})
    provider.connect(MODEL)
    assert provider.complete(HI).text == "hi"
    request = server.requests[-1]
    assert (str(request.url), request.headers["authorization"]) == (url, f"Bearer {key}")
    assert "foreign" not in str(request.headers)


def test_the_word_that_stands_for_a_key_is_no_secret() -> None:
    provider = OllamaStateless()
    provider.initialize({"transport": fixed_answer(500, json={"error": "ollama runner terminated"})})
    provider.connect(MODEL)
    with pytest.raises(OverloadedError, match=r"^ollama runner terminated$"):
        provider.complete(HI)


def test_a_host_that_is_none_is_told_before_anything_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "box:port")
    with pytest.raises(UsageError, match=r"^OLLAMA_HOST is no address: "):
        OllamaStateless().initialize({})


@OPENERS
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_an_address_may_end_in_the_version_or_in_a_slash(opened: Any, ending: str) -> None:
    server = Server(tags=TAGS)
    provider = opened(URL + ending, transport=server.transport)
    send(provider, HI)
    assert provider.list_models() == ["qwen3:8b", "llama3.2:latest"]
    assert [str(request.url) for request in server.requests] == [f"{URL}/v1/messages", f"{URL}/api/tags"]


@OPENERS
def test_a_key_is_accepted_by_whoever_looks_at_it(opened: Any) -> None:
    assert opened(transport=Server(tags=TAGS).transport).verify_auth()
    assert not opened(transport=fixed_answer(401, json={"error": "Unauthorized"})).verify_auth()
    with pytest.raises(OverloadedError):
        opened(transport=fixed_answer(503, json={"error": "busy"})).verify_auth()
    with pytest.raises(AuthenticationError):
        opened(transport=fixed_answer(401, json={"error": "Unauthorized"})).list_models()
    with pytest.raises(OverloadedError):
        opened(transport=fixed_answer(json={"error": "unexpected EOF"})).verify_auth()
    with pytest.raises(TransportError):
        opened(transport=fixed_answer(html="<html></html>")).list_models()


@OPENERS
def test_the_window_is_asked_of_the_server_until_the_model_is_loaded(opened: Any) -> None:
    server = Server(ps={"models": []}, show=SHOWN)
    provider = opened(transport=server.transport)
    assert provider.get_context_limit() == 40_960
    assert server.paths == ["/api/ps", "/api/show"]
    assert json.loads(server.requests[-1].content) == {"model": MODEL}

    server = Server(ps={"models": [{"name": MODEL, "context_length": 8192}]}, show=SHOWN)
    provider = opened(transport=server.transport)
    assert provider.get_context_limit() == provider.get_context_limit() == 8192
    assert server.paths == ["/api/ps"], "it is known by then"
    provider.connect("llama3.2")
    assert provider.get_context_limit() == 40_960
    assert server.paths == ["/api/ps", "/api/ps", "/api/show"], "another model has another window"


@OPENERS
def test_a_model_that_the_server_does_not_have_has_no_window(opened: Any) -> None:
    missing = fixed_answer(404, json={"error": "model 'qwen3:8b' not found"})
    with pytest.raises(InvalidRequestError, match="not found"):
        opened(transport=missing).get_context_limit()
    assert OllamaStateless().get_context_limit() == 0


@OPENERS
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, None),
        ({"thinking": None}, {"type": "disabled"}),
        ({"thinking": {"type": "adaptive"}}, None),
        ({"thinking": {"budget_tokens": 1024}}, {"type": "enabled", "budget_tokens": 1024}),
    ],
    ids=repr,
)
def test_thinking_is_the_models_own_choice_unless_it_is_switched(
    opened: Any, options: dict[str, Any], expected: Any
) -> None:
    server = Server()
    send(opened(transport=server.transport, **options), HI)
    assert server.body.get("thinking") == expected
    assert server.body["max_tokens"] == 8192, "the server insists on a figure"


def test_an_instruction_in_mid_conversation_keeps_its_role() -> None:
    server = Server()
    history = [*HI, Message("system", (Text("Be brief."),)), Message.model("so"), Message.user("and?")]
    stateless(transport=server.transport).complete(history, None, [ToolSchema("read")])
    assert [message["role"] for message in server.body["messages"]] == ["user", "system", "assistant", "user"]


PIXEL = InlineData("image/png", b"\x89")


@OPENERS
def test_images_are_sent_in_the_request(opened: Any) -> None:
    server = Server()
    send(opened(transport=server.transport), [Message("user", (Text("What is it?"), PIXEL))])
    assert server.body["messages"][0]["content"][1]["source"]["type"] == "base64"


@OPENERS
@pytest.mark.parametrize(
    ("part", "words"),
    [
        (InlineData("application/pdf", b"%PDF"), "'application/pdf' as a file"),
        (InlineData("text/plain", b"so"), "'text/plain' as a file"),
        (FileRef("image/png", "https://example.invalid/x.png"), "'image/png' named by its address"),
        (
            ToolResult("a", "read", "see", attachments=(InlineData("application/pdf", b"%PDF"),)),
            "'application/pdf' as a file",
        ),
    ],
    ids=["pdf", "text", "address", "attachment"],
)
def test_what_the_server_would_pass_over_is_refused_before_it_is_sent(opened: Any, part: Any, words: str) -> None:
    server = Server()
    with pytest.raises(InvalidRequestError, match=f"ollama does not read a {words}"):
        send(opened(transport=server.transport), [Message("user", (part,))])
    assert not server.requests


def test_the_binding_claims_what_the_family_of_the_model_can() -> None:
    for name, (thinks, calls, sees) in {
        MODEL: (True, True, False),
        "llama3": (False, False, False),
        "granite3.2-vision": (False, True, True),
    }.items():
        claims, provider = BINDING.claims(name), stateless(model=name)
        assert (claims.thinking, claims.tools, claims.parallel_tools) == (thinks, calls, calls)
        assert (claims.images, claims.result_images) == (sees, sees)
        assert (claims.structured, claims.documents, claims.count_tokens, claims.cache) == (False, False, False, "none")
        assert provider.supports_thinking() == thinks
