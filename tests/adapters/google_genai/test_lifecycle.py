"""Opening, asking about the service, closing; and the binding that does it for turnproof."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import warnings
from importlib.util import module_from_spec
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from google.genai import types

from turnproof.errors import UsageError
from turnproof.messages import CacheMark, FunctionCall, Message, Text, ToolSchema
from turnproof_adapters._http import Connection, shared_tls
from turnproof_adapters.google_genai import client, lifecycle, splice
from turnproof_adapters.google_genai.client import open_client, without_version
from turnproof_adapters.google_genai.models import model
from turnproof_adapters.google_genai.stateless import GoogleStateless
from turnproof_adapters.google_genai.target import same_model

from ..scripted_server import Exchange, scripted
from .histories import issued
from .kit import KEY, MODEL, SIGNATURE, Capture, stateless

HI = [Message.user("hi")]


def test_shutting_down_closes_the_connections() -> None:
    with scripted(lambda exchange: exchange.answer({"models": []})) as server:
        provider = stateless(server.url)
        assert provider.verify_auth()
        http = provider._http
        assert http is not None
        provider.shutdown()
        assert http.is_closed


def test_all_pages_of_models_are_listed_by_their_short_names() -> None:
    def page(exchange: Exchange) -> None:
        more = "pageToken" not in exchange.path
        names = ["models/a", "models/b"] if more else ["models/c"]
        models = [*({"name": name} for name in names), {"displayName": "nameless"}]
        exchange.answer({"models": models, **({"nextPageToken": "t"} if more else {})})

    with scripted(page) as server:
        assert stateless(server.url).list_models() == ["a", "b", "c"]
        assert [page_size(exchange) for exchange in server.requests] == ["1000", "1000"], "the most that the API allows"


def page_size(exchange: Exchange) -> str:
    return parse_qs(urlsplit(exchange.path).query)["pageSize"][0]


@pytest.mark.parametrize("name", [MODEL, f"models/{MODEL}"])
def test_tokens_are_counted_by_the_service_for_the_prompt_that_would_be_sent(name: str) -> None:
    capture = Capture()
    provider = stateless(model=name, transport=capture.transport)
    history = [*HI, Message.model(Text("ho", provider_data=issued(name))), *HI]
    assert provider.count_tokens(history, "rules", [ToolSchema("a b")]) == 42
    assert capture.requests[-1].url.path.endswith(f"/models/{MODEL}:countTokens")
    wrapped = capture.body["generateContentRequest"]
    assert set(capture.body) == {"generateContentRequest"}
    assert wrapped.pop("model") == f"models/{MODEL}"
    provider.complete(history, "rules", [ToolSchema("a b")])
    assert wrapped == capture.body
    assert SIGNATURE in capture.requests[-1].content.decode()


def test_a_count_that_the_service_leaves_out_is_zero() -> None:
    """JSON made of protocol buffers has no field that is 0."""
    provider = stateless(transport=httpx2.MockTransport(lambda request: httpx2.Response(200, json={})))
    assert provider.count_tokens([]) == 0


def test_what_a_managed_cache_holds_is_counted_by_its_name() -> None:
    capture = Capture()
    stateless(transport=capture.transport).count_tokens(HI, Text("rules", cache=CacheMark(name="cachedContents/7")))
    assert capture.body["generateContentRequest"]["cachedContent"] == "cachedContents/7"


def test_tokens_are_estimated_where_the_sdk_cannot_ask_for_the_whole_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "supported", lambda: False)
    capture = Capture()
    assert stateless(transport=capture.transport).count_tokens([Message.user("four" * 100)]) > 100
    assert capture.requests == []


@pytest.mark.parametrize(
    ("name", "thinks", "demands", "window"),
    [
        ("gemini-1.5-pro-002", False, False, 2_097_152),
        ("gemini-1.5-flash", False, False, 1_048_576),
        ("gemini-2.0-flash-001", False, False, 1_048_576),
        ("gemini-2.5-flash-lite", True, False, 1_048_576),
        ("models/gemini-2.5-pro", True, False, 1_048_576),
        (MODEL, True, True, 1_048_576),
        ("publishers/google/models/gemini-3.1-pro-preview", True, True, 1_048_576),
        ("gemini-flash-latest", True, True, 1_048_576),
        ("a-model-of-tomorrow", True, True, 1_048_576),
    ],
)
def test_features_follow_from_a_models_name(name: str, thinks: bool, demands: bool, window: int) -> None:
    facts = model(name)
    assert (facts.thinks, facts.demands_signatures, facts.context_tokens) == (thinks, demands, window)
    assert facts.takes_media_in_results == demands
    assert stateless(model=name).get_context_limit() == window


@pytest.mark.parametrize(
    ("name", "line", "version"),
    [
        (MODEL, "flash", (3, 0)),
        ("gemini-2.5-flash-lite", "flash", (2, 5)),
        ("publishers/google/models/gemini-3.1-pro-preview", "pro", (3, 1)),
    ],
)
def test_a_models_place_in_the_family_is_read_from_its_name(name: str, line: str, version: tuple[int, int]) -> None:
    assert (model(name).line, model(name).version) == (line, version)


def test_an_unknown_model_is_a_current_one_and_so_is_one_that_is_not_chosen_yet() -> None:
    assert model("gemma") == model(None)
    assert model(None).line == ""
    assert model(None).version > model("gemini-3.1-pro-preview").version
    assert GoogleStateless().get_context_limit() == 1_048_576
    assert GoogleStateless().supports_thinking()
    assert GoogleStateless().supports_structured_output()


def test_a_short_and_a_full_name_are_one_model() -> None:
    assert same_model(MODEL, f"models/{MODEL}")
    assert same_model(f"projects/p/locations/l/publishers/google/models/{MODEL}", MODEL)
    assert not same_model(MODEL, "gemini-3-pro-preview")


def test_thinking_can_be_switched_on_and_off_between_calls() -> None:
    capture = Capture()
    provider = stateless(transport=capture.transport)
    shown = []
    for config in ({"level": "high"}, None):
        provider.set_thinking_config(config)
        provider.complete(HI)
        shown.append(capture.body.get("generationConfig"))
    assert shown == [{"thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"}}, None]
    with pytest.raises(UsageError):
        provider.set_thinking_config({"tokens": 5})


def test_of_a_call_that_was_cut_no_tool_is_left_to_be_run() -> None:
    caller = stateless()._caller()
    assert caller.stands_alone(Text("so far"))
    assert not caller.stands_alone(FunctionCall("a", "rm", {}))


def test_a_history_survives_being_written_down() -> None:
    provider = stateless()
    history = [Message.user("hi"), Message.model("ho")]
    restored = provider.deserialize_history(provider.serialize_history(history))
    assert [(each.role, each.parts, each.message_id) for each in restored] == [
        (each.role, each.parts, each.message_id) for each in history
    ]


# -- addresses and platforms


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("http://x.invalid", "http://x.invalid"),
        ("http://x.invalid//", "http://x.invalid"),
        ("http://x.invalid/v1beta", "http://x.invalid"),
        ("http://x.invalid/gemini/v1/", "http://x.invalid/gemini"),
        ("http://x.invalid/v1alpha2", "http://x.invalid"),
        ("http://x.invalid/v1/models", "http://x.invalid/v1/models"),
        ("http://x.invalid/very", "http://x.invalid/very"),
        ("", None),
        (None, None),
    ],
)
def test_a_version_at_the_end_of_an_address_is_left_to_the_sdk(base: str | None, address: str | None) -> None:
    assert without_version(base) == address


@pytest.mark.parametrize(
    "base", ["http://x.invalid", "http://x.invalid/", "http://x.invalid/v1beta", "http://x.invalid/v1/"]
)
def test_the_version_stands_in_the_address_once(base: str) -> None:
    capture = Capture()
    stateless(base, transport=capture.transport).complete(HI)
    assert capture.requests[0].url.path.count("/v1") == 1


def test_without_an_address_the_sdk_knows_it() -> None:
    capture = Capture()
    opened, http = open_client(Connection(transport=capture.transport), KEY)
    opened.models.generate_content(model=MODEL, contents="hi")
    assert capture.requests[0].url.host == "generativelanguage.googleapis.com"
    assert http.trust_env, "a proxy of the environment is asked"


def test_a_word_that_the_sdk_does_not_know_is_no_warning_and_others_warn_as_ever() -> None:
    spec = client.__spec__
    assert spec is not None
    assert spec.loader is not None
    with warnings.catch_warnings(record=True) as recorder:
        warnings.simplefilter("always")
        spec.loader.exec_module(module_from_spec(spec))
        assert types.FinishReason("SOMETHING_NEW")
        warnings.warn("mine is not a valid thing", UserWarning, stacklevel=1)
    assert [str(each.message) for each in recorder] == ["mine is not a valid thing"]


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_vertex_is_asked_with_a_bearer_token_under_its_own_path(streamed: bool) -> None:
    capture = Capture()
    provider = stateless(transport=capture.transport, vertexai={"project": "p", "location": "europe-west4"})
    on_chunk = (lambda piece: None) if streamed else None
    assert provider.complete(HI, "rules", [ToolSchema("a")], on_chunk=on_chunk).text == "hi"
    (request,) = capture.requests
    assert f"/projects/p/locations/europe-west4/publishers/google/models/{MODEL}:" in request.url.path
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert "x-goog-api-key" not in request.headers
    assert set(capture.body) == {"contents", "systemInstruction", "tools"}


def test_spans_name_the_platform_that_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """By OpenTelemetry's conventions for `gen_ai.provider.name`; the environment has no say in it."""
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    provider = GoogleStateless()
    assert provider.telemetry_name == "gcp.gemini"
    for vertexai, name in (({}, "gcp.vertex_ai"), (None, "gcp.gemini")):
        provider.initialize({"api_key": KEY, "vertexai": vertexai})
        assert provider.telemetry_name == name
        assert provider._require_client().vertexai is (vertexai is not None)


def test_vertex_is_asked_where_it_is_everywhere_unless_a_place_is_named() -> None:
    capture = Capture()
    opened, _ = open_client(Connection(transport=capture.transport), KEY, vertexai={"project": "p"})
    opened.models.generate_content(model=MODEL, contents="hi")
    assert capture.requests[0].url.host == "aiplatform.googleapis.com"
    assert "/projects/p/locations/global/" in capture.requests[0].url.path


def test_vertex_counts_what_stands_beside_the_contents() -> None:
    capture = Capture()
    provider = stateless(transport=capture.transport, vertexai={"project": "p", "location": "l"})
    assert provider.count_tokens(HI, "rules") == 42
    assert set(capture.body) == {"contents", "systemInstruction"}


def test_vertex_without_a_project_is_asked_with_the_key() -> None:
    capture = Capture()
    stateless(transport=capture.transport, vertexai={}).complete(HI)
    assert capture.requests[0].headers["x-goog-api-key"] == KEY
    assert f"/publishers/google/models/{MODEL}:" in capture.requests[0].url.path


@pytest.mark.parametrize(
    "variables",
    [
        {"GOOGLE_API_KEY": "another"},
        {"GEMINI_API_KEY": "another"},
        {"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "l"},
        {"GOOGLE_GENAI_USE_ENTERPRISE": "true"},
        {"GOOGLE_GEMINI_BASE_URL": "http://elsewhere.invalid"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_the_environment_changes_neither_key_nor_platform_nor_address(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = Capture()
    stateless(transport=capture.transport).complete(HI)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    stateless(transport=capture.transport).complete(HI)
    assert capture.requests[0].url == capture.requests[1].url
    assert [request.headers["x-goog-api-key"] for request in capture.requests] == [KEY, KEY]
    assert dict(os.environ) == before


# -- what opening costs


def test_the_process_makes_one_tls_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK would make several for each client, and each costs more than all the rest of opening one."""
    contexts: list[object] = []
    original = ssl.SSLContext.__new__

    def counted(cls: type[ssl.SSLContext], *args: Any, **kwargs: Any) -> ssl.SSLContext:
        contexts.append(cls)
        return original(cls, *args, **kwargs)

    stateless()
    monkeypatch.setattr(ssl.SSLContext, "__new__", counted)
    for _ in range(3):
        stateless()
    assert contexts == []
    assert shared_tls() is shared_tls()


def test_the_callers_own_tls_context_is_used() -> None:
    context = ssl.create_default_context()
    provider = stateless("https://127.0.0.1:1", ssl_context=context)
    assert provider._http is not None
    assert provider._http._transport._pool._ssl_context is context  # type: ignore[attr-defined]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1"])
def test_a_proxy_of_the_environment_is_not_asked_for_loopback(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    for address, proxied in ((url, False), ("http://example.invalid", True)):
        provider = stateless(address)
        assert provider._http is not None
        assert bool(provider._http._mounts) is proxied


def test_a_silence_limit_of_the_caller_holds_although_the_sdk_sets_none() -> None:
    seen: list[Any] = []

    def look(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.extensions["timeout"])
        return httpx2.Response(200, json={"candidates": [{"finishReason": "STOP"}]})

    stateless(transport=httpx2.MockTransport(look), timeout=3).complete(HI)
    assert seen == [{"connect": 3.0, "read": 3.0, "write": 3.0, "pool": 3.0}]


def test_whether_the_sdk_splices_is_found_out_once_and_without_the_network() -> None:
    splice.supported.cache_clear()
    assert splice.supported()
    assert splice.supported.cache_info().misses == 1
    assert splice.supported()
    assert splice.supported.cache_info().misses == 1


@pytest.mark.parametrize("how", ["ignores", "fails"])
def test_an_sdk_that_goes_about_it_another_way_is_noticed(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(self: httpx2.Client, *args: Any, **options: Any) -> httpx2.Request:
        if how == "fails":
            raise TypeError("another signature")
        return httpx2.Client.build_request(self, *args, **options)

    monkeypatch.setattr(splice.SplicingClient, "build_request", build)
    splice.supported.cache_clear()
    try:
        assert not splice.supported()
    finally:
        splice.supported.cache_clear()


def test_importing_the_binding_imports_no_sdk() -> None:
    script = (
        "import sys; from turnproof_adapters.google_genai.binding import BINDING;"
        "BINDING.claims(); assert 'google.genai' not in sys.modules, 'imported'"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
