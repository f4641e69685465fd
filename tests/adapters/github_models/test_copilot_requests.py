"""What Copilot is told beside the conversation, what it answers in its own way, and what its refusals mean."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pytest

from turnproof import messages as m
from turnproof.errors import (
    AuthenticationError,
    ContentFilterError,
    ContextLimitError,
    InvalidRequestError,
    OverloadedError,
    ProviderError,
    RateLimitError,
    TransportError,
)
from turnproof_adapters.github_models.copilot.models import model as facts_of

from ..contract.adapter_kit import outcome
from ..faults import everything
from .kit import (
    KEY,
    STREAMED,
    TOKEN,
    Capture,
    answer,
    call,
    chat,
    chat_legacy,
    chunk,
    codex,
    codex_legacy,
    issued,
    legacy,
    response_of_codex,
    result,
    stateless,
    stream,
    unheard,
    wire_call,
)

HI = m.Message.user("hi")
PIXEL = m.InlineData("image/png", b"\x89")
PDF = m.InlineData("application/pdf", b"%")
LOOP = [HI, m.Message.model(call()), m.Message.tool(result())]
CLAUDE = "claude-sonnet-4.5"


def headers(*messages: m.Message) -> dict[str, str]:
    capture = Capture(response_of_codex())
    codex(transport=capture.transport).complete(messages)
    return {name: capture.requests[0].headers.get(name, "") for name in ("x-initiator", "copilot-vision-request")}


@pytest.mark.parametrize(
    ("messages", "initiator", "vision"),
    [
        ([HI], "user", ""),
        (LOOP, "agent", ""),
        ([*LOOP, m.Message.model("so"), HI], "user", ""),
        ([m.Message.user("see", PIXEL)], "user", "true"),
        ([m.Message.user("see", PDF)], "user", ""),
        ([m.Message.user(PIXEL), m.Message.model("so"), HI], "user", "true"),
        ([*LOOP[:2], m.Message.tool(result(attachments=(PDF, PIXEL)))], "agent", "true"),
        ([*LOOP[:2], m.Message.tool(result(attachments=(PDF,)))], "agent", ""),
    ],
    ids=["user", "results", "user-again", "image", "pdf", "earlier-image", "image-of-a-tool", "pdf-of-a-tool"],
)
def test_who_began_a_request_and_whether_it_shows_images(messages: Any, initiator: str, vision: str) -> None:
    assert headers(*messages) == {"x-initiator": initiator, "copilot-vision-request": vision}


def test_an_image_is_remembered_while_its_conversation_grows_and_in_no_other() -> None:
    capture = Capture(response_of_codex())
    provider = codex(transport=capture.transport)
    first_turn = [HI, m.Message.model("so")]
    shown = [*first_turn, m.Message.user("see", PIXEL), m.Message.model("I see")]
    for messages in ([HI], shown, [*shown, HI], [*first_turn, HI]):
        provider.complete(messages)
    assert ["copilot-vision-request" in each.headers for each in capture.requests] == [False, True, True, False]


def test_every_request_has_an_id_of_its_own() -> None:
    capture = Capture()
    provider, numbers = chat(transport=capture.transport), iter(range(9))
    provider.complete([HI])
    provider.complete([HI])
    first, second = (request.headers["x-request-id"] for request in capture.requests)
    assert first != second
    chat(transport=capture.transport, request_ids=lambda: next(numbers)).complete([HI])
    assert capture.requests[-1].headers["x-request-id"] == "0"


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_both_paths_send_the_same_request(streamed: bool) -> None:
    for opened, open_legacy in ((chat, chat_legacy), (codex, codex_legacy)):
        reply = response_of_codex() if opened is codex else answer("hi")
        pure, stateful = Capture(reply), Capture(reply)
        if streamed and opened is codex:
            continue  # what it answers is a stream of another form; its own tests have it
        opened(transport=pure.transport).complete([*LOOP, HI], "Be brief.", **(STREAMED if streamed else {}))
        provider = open_legacy(transport=stateful.transport)
        provider.create_session("Be brief.", history=LOOP)
        if streamed:
            provider.send_message_streaming("hi", unheard)
        else:
            provider.send_message("hi")
        assert pure.body == stateful.body
        for name in ("x-initiator", "editor-version", "openai-intent", "authorization"):
            assert pure.requests[0].headers[name] == stateful.requests[0].headers[name]


# -- in Copilot's own way


def test_text_and_calls_in_choices_of_their_own_are_one_answer() -> None:
    first = {"message": {"role": "assistant", "content": "look"}, "finish_reason": "tool_calls"}
    second = {
        "message": {"role": "assistant", "tool_calls": [wire_call("call_1", "read", '{"bed":3}')]},
        "finish_reason": "tool_calls",
    }
    reply = answer() | {"choices": [first, second], "model": CLAUDE}
    for provider in (chat(model=CLAUDE, transport=Capture(reply).transport),):
        assert provider.complete([HI]).parts == (m.Text("look"), call(bed=3))
    assert chat_legacy(transport=Capture(reply).transport).send_message("hi").parts == (m.Text("look"), call(bed=3))


def test_sealed_thinking_comes_in_pieces_and_goes_back() -> None:
    events = stream({"reasoning_text": "hm"}, {"reasoning_opaque": "seal=="}, {"content": "so"})
    capture = Capture(events=[each.replace(b"gpt-4.1-2025-04-14", CLAUDE.encode()) for each in events])
    provider = chat(model=CLAUDE, transport=capture.transport)
    response = provider.complete([HI], on_chunk=unheard)
    data = m.ProviderData("openai-chat", CLAUDE, {"field": "reasoning_text", "encrypted": "seal=="})
    assert response.parts == (m.Thought("hm", provider_data=data), m.Text("so"))
    provider.complete([HI, m.Message("model", response.parts), HI])
    assert capture.body["messages"][1] == {
        "role": "assistant",
        "content": "so",
        "reasoning_text": "hm",
        "reasoning_opaque": "seal==",
    }


def test_chunks_of_the_filter_and_the_figures_have_no_choices() -> None:
    capture = Capture(events=stream({"role": "assistant", "content": ""}, {"content": "so"}))
    pure = chat(transport=capture.transport).complete([HI], on_chunk=unheard)
    legacy_response = chat_legacy(transport=capture.transport).send_message_streaming("hi", unheard)
    assert outcome(pure) == outcome(legacy_response)
    assert pure.usage.cache_read_tokens == 100


def test_copilot_narrows_the_window_of_every_model() -> None:
    assert facts_of("gpt-4.1").context_tokens == facts_of(CLAUDE).context_tokens == 128_000
    assert chat(transport=Capture().transport).get_context_limit() == 128_000
    assert facts_of("gpt-4o").structured


# -- refused


@dataclass(frozen=True)
class Case:
    """A refusal with a `retry-after` of 17 seconds, which counts where trying again makes sense."""

    id: str
    status: int
    body: Any
    expected: type[ProviderError]
    retryable: bool = False
    waits: bool = False
    kind: str | None = None
    message: str | None = None
    limit: int | None = None


def error(code: str, message: str = "Sorry") -> dict[str, Any]:
    return {"error": {"message": message, "code": code}}


HTML = "<html><h1>Proxy</h1></html>"
TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again."
CASES = [
    Case("no-editor", 400, "bad request: missing Editor-Version header for IDE auth\n", InvalidRequestError,
         message="bad request: missing Editor-Version header for IDE auth"),
    Case("empty", 400, "", InvalidRequestError, message="HTTP status 400"),
    Case("model-not-supported", 400, error("model_not_supported"), InvalidRequestError, kind="model_not_supported"),
    Case("only-responses", 400, error("unsupported_api_for_model"), InvalidRequestError,
         kind="unsupported_api_for_model"),
    Case("too-long", 400,
         error("model_max_prompt_tokens_exceeded", "prompt token count of 391491 exceeds the limit of 128000"),
         ContextLimitError, kind="model_max_prompt_tokens_exceeded", limit=128_000),
    Case("too-long-without-figures", 400, error("invalid_request_body", TOO_LONG), ContextLimitError),
    Case("bad-body", 400, error("invalid_request_body", "the maximum of 128 tools is exceeded"), InvalidRequestError,
         kind="invalid_request_body"),
    Case("ended", 401, "unauthorized: token expired\n", AuthenticationError, message="unauthorized: token expired"),
    Case("quota", 402, error("quota_exceeded"), RateLimitError, waits=True, kind="quota_exceeded"),
    Case("quota-in-words", 402, "You have no quota", RateLimitError, waits=True, message="You have no quota"),
    Case("integration", 403, "token not authorized for this integration", AuthenticationError),
    Case("unknown-model", 404, error("model_not_found"), InvalidRequestError, kind="model_not_found"),
    Case("too-large", 413, "", ContextLimitError),
    Case("filtered", 422, error("content_filter"), ContentFilterError, kind="content_filter"),
    Case("filtered-in-words", 422, "The response was filtered", ContentFilterError),
    Case("dependency", 424, "", OverloadedError, True, True),
    Case("rate", 429, error("user_global_rate_limited:pro"), RateLimitError, True, True,
         kind="user_global_rate_limited:pro"),
    Case("model-rate", 429, error("user_model_rate_limited"), RateLimitError, True, True),
    Case("integration-rate", 429, error("integration_rate_limited"), RateLimitError, True, True),
    Case("agent-mode", 429, error("agent_mode_limit_exceeded"), RateLimitError, True, True),
    Case("spent", 429, error("quota_exceeded"), RateLimitError, False, True, kind="quota_exceeded"),
    Case("overloaded", 429, error("model_overloaded"), OverloadedError, True, True, kind="model_overloaded"),
    Case("old-client", 466, "please update", InvalidRequestError, message="please update"),
    Case("hung-up", 499, "", TransportError, True, True),
    Case("server", 500, HTML, OverloadedError, True, True, message="HTTP status 500"),
    Case("upstream", 503, error("upstream_provider_rate_limit"), OverloadedError, True, True),
    Case("proxy", 502, HTML, OverloadedError, True, True, message="HTTP status 502"),
    Case("with-the-token", 400, error("odd", f"you sent {TOKEN} for {KEY}"), InvalidRequestError,
         message="you sent *** for ***"),
]  # fmt: skip

WAYS: dict[str, Callable[[], object]] = {
    "chat": lambda: chat("").complete([HI]),
    "chat-stream": lambda: chat("").complete([HI], on_chunk=unheard),
    "chat-legacy": lambda: chat_legacy("").send_message("hi"),
    "chat-legacy-stream": lambda: chat_legacy("").send_message_streaming("hi", unheard),
    "codex": lambda: codex("").complete([HI]),
    "codex-stream": lambda: codex("").complete([HI], on_chunk=unheard),
    "codex-legacy": lambda: codex_legacy("").send_message("hi"),
    "codex-legacy-stream": lambda: codex_legacy("").send_message_streaming("hi", unheard),
}


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_a_refusal_is_typed_alike_however_it_was_asked_for(case: Case, httpx2_mock: Any) -> None:
    httpx2_mock.get("https://api.github.com/copilot_internal/v2/token").respond(json=issued())
    body = {"json": case.body} if isinstance(case.body, dict) else {"text": case.body}
    route = httpx2_mock.post(host="api.githubcopilot.com")
    route.respond(case.status, headers={"retry-after": "17"}, **body)
    for name, ask in WAYS.items():
        with pytest.raises(ProviderError) as failure:
            ask()
        found = failure.value
        assert type(found) is case.expected, name
        assert (found.status, found.retryable) == (case.status, case.retryable), name
        assert found.retry_after == (17 if case.waits else None), name
        assert case.kind in (None, found.kind), name
        assert case.message in (None, found.message), name
        if isinstance(found, ContextLimitError):
            assert found.limit == case.limit
        shown = everything(found)
        assert KEY not in shown
        assert TOKEN not in shown
    assert route.call_count == len(WAYS) * (2 if case.status == 401 else 1), "nobody below the session retries"


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(
    "reply",
    [
        {"json": {"error": {"code": "rate_limit_exceeded", "message": "Sorry"}}},
        {"content": b"data: " + b'{"error":{"code":"rate_limit_exceeded","message":"Sorry"}}\n\n',
         "headers": {"content-type": "text/event-stream"}},
    ],
    ids=["json", "stream"],
)  # fmt: skip
def test_a_failure_under_status_200_is_the_error_that_it_names(name: str, reply: Any, httpx2_mock: Any) -> None:
    if ("stream" in name) != ("content" in reply):
        return
    httpx2_mock.get("https://api.github.com/copilot_internal/v2/token").respond(json=issued())
    httpx2_mock.post(host="api.githubcopilot.com").respond(200, **reply)
    with pytest.raises(RateLimitError, match="Sorry") as failure:
        WAYS[name]()
    assert failure.value.status == 200


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"content": gzip.compress(b'{"choices": []}')[:20], "headers": {"content-encoding": "gzip"}},
        {"status_code": 302, "headers": {"location": "/chat/completions"}},
        {"text": "OK"},
        {"json": []},
        {"json": {}},
    ],
    ids=["truncated-gzip", "endless-redirect", "plain-text", "a-list", "an-empty-object"],
)
def test_what_is_no_answer_is_a_transport_error(name: str, wrong: dict[str, Any], httpx2_mock: Any) -> None:
    httpx2_mock.get("https://api.github.com/copilot_internal/v2/token").respond(json=issued())
    httpx2_mock.route(host="api.githubcopilot.com").respond(**wrong)
    with pytest.raises(TransportError) as failure:
        WAYS[name]()
    assert failure.value.retryable


CODES = [
    ("invalid_request_body", InvalidRequestError),
    ("model_not_supported", InvalidRequestError),
    ("model_max_prompt_tokens_exceeded", ContextLimitError),
    ("content_filter", ContentFilterError),
    ("unauthorized", AuthenticationError),
    ("forbidden", AuthenticationError),
    ("user_global_rate_limited:pro", RateLimitError),
    ("quota_exceeded", RateLimitError),
    ("upstream_provider_rate_limit", OverloadedError),
    ("internal_error", OverloadedError),
]


@pytest.mark.parametrize(("code", "expected"), CODES, ids=[code for code, _ in CODES])
def test_a_code_means_the_same_inside_a_stream(code: str, expected: type[ProviderError]) -> None:
    events = [chunk({"content": "so far"}), b"data: %b\n\n" % json.dumps(error(code)).encode()]
    asking: list[Callable[[], object]] = [
        lambda: chat(transport=Capture(events=events).transport).complete([HI], on_chunk=unheard),
        lambda: chat_legacy(transport=Capture(events=events).transport).send_message_streaming("hi", unheard),
        lambda: stateless(transport=Capture(events=events).transport).complete([HI], on_chunk=unheard),
        lambda: legacy(transport=Capture(events=events).transport).send_message_streaming("hi", unheard),
    ]
    for ask in asking:
        with pytest.raises(ProviderError) as failure:
            ask()
        assert type(failure.value) is expected
        assert (failure.value.kind, failure.value.status) == (code, 200)
        assert failure.value.partial == (m.Text("so far"),)


@pytest.mark.parametrize("name", WAYS)
def test_a_page_of_a_proxy_under_status_200_is_no_answer(name: str, httpx2_mock: Any) -> None:
    httpx2_mock.get("https://api.github.com/copilot_internal/v2/token").respond(json=issued())
    httpx2_mock.post(host="api.githubcopilot.com").respond(200, html=HTML)
    with pytest.raises(TransportError) as failure:
        WAYS[name]()
    assert failure.value.retryable


def test_tool_results_without_a_call_cost_no_premium_request_either() -> None:
    """What began the request counts, not what of it is sent."""
    capture = Capture()
    chat(transport=capture.transport).complete([HI, m.Message.tool(m.ToolResult("gone", "read", "ok"))])
    assert capture.requests[0].headers["x-initiator"] == "agent"
