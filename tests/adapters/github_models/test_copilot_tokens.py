"""The session token: exchanged once for all who ask, in time, again where it is refused, and never shown."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse
from turnproof_adapters.github_models.copilot.address import API, TOKEN_URL, api_of, base_of, token_url_of
from turnproof_adapters.github_models.copilot.lifecycle import KEYS
from turnproof_adapters.github_models.copilot.tokens import LIFE, Endpoints, Issued, Session, Tokens, decode

from ..background_call import BackgroundCall, behind_another, wait_until
from ..faults import everything
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import (
    KEY,
    STREAMED,
    TOKEN,
    Capture,
    answer,
    chat,
    chat_legacy,
    codex,
    codex_legacy,
    issued,
    response_of_codex,
    unheard,
)

HI = [Message.user("hi")]


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def numbered(refresh_in: float | None = 1500) -> Iterator[Issued]:
    return (Issued(f"token-{n}", refresh_in) for n in count(1))


@pytest.mark.parametrize(("refresh_in", "life"), [(1500, 1500), (60.5, 60.5), (None, LIFE), (0, LIFE), (-1, LIFE)])
def test_a_token_is_kept_for_as_long_as_its_answer_says(refresh_in: float | None, life: float) -> None:
    clock, tokens = Clock(), numbered(refresh_in)
    token_cache = Tokens(lambda: next(tokens), clock)
    assert token_cache.known is None
    first = token_cache.current()
    clock.now += life - 0.1
    assert token_cache.current() is first is token_cache.known
    clock.now += 0.1
    assert token_cache.current().token == "token-2"


def test_a_token_that_was_refused_is_exchanged_once_for_all_who_were_refused() -> None:
    tokens = numbered()
    token_cache = Tokens(lambda: next(tokens), Clock())
    first = token_cache.current()
    second = token_cache.renewed(first)
    assert (second.token, token_cache.renewed(first), token_cache.current()) == ("token-2", second, second)


def test_threads_that_ask_at_once_share_one_exchange() -> None:
    arrival, go, exchanges = threading.Event(), threading.Event(), []

    def exchange() -> Issued:
        exchanges.append(1)
        arrival.set()
        assert go.wait(LIMIT)
        return Issued("shared")

    token_cache = Tokens(exchange, Clock())
    running = [BackgroundCall(lambda token: token_cache.current(token)) for _ in range(4)]
    assert arrival.wait(LIMIT)
    wait_until(lambda: sum("_wait" in each.frames for each in running) == 3)
    go.set()
    assert {each.result().token for each in running} == {"shared"}  # type: ignore[union-attr]
    assert len(exchanges) == 1


def test_who_waits_for_anothers_exchange_can_be_cancelled() -> None:
    arrival, go = threading.Event(), threading.Event()

    def exchange() -> Issued:
        arrival.set()
        assert go.wait(LIMIT)
        return Issued("late")

    token_cache = Tokens(exchange, Clock())
    first, second = behind_another(lambda token: token_cache.current(token), arrival)
    second.token.cancel()
    assert isinstance(second.result(), errors.Cancelled)
    go.set()
    assert first.result().token == "late"  # type: ignore[union-attr]


def test_after_an_exchange_that_failed_the_next_one_tries_again() -> None:
    answers: list[Any] = [errors.TransportError("gone"), Issued("there")]

    def exchange() -> Issued:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        assert isinstance(found, Issued)
        return found

    token_cache = Tokens(exchange, Clock())
    with pytest.raises(errors.TransportError):
        token_cache.current()
    assert token_cache.current().token == "there"


def test_a_token_shows_in_no_repr() -> None:
    assert TOKEN not in repr(Session(TOKEN, None, 0.0))


def test_the_answer_to_an_exchange() -> None:
    found = decode(
        b'{"token":"t","expires_at":1,"refresh_in":1500,"endpoints":{"api":"https://a","proxy":"b"},"sku":"x"}'
    )
    assert found == Issued("t", 1500, Endpoints("https://a"))
    for body in (b"", b"[]", b'{"token":""}', b'{"refresh_in":1}', b"<html>"):
        with pytest.raises(ValueError):
            decode(body)


# -- where it is issued, and where it is good for


@pytest.mark.parametrize(
    ("token_url", "base_url", "expected"),
    [
        (None, None, TOKEN_URL),
        (None, "https://api.individual.githubcopilot.com", TOKEN_URL),
        (None, "https://githubcopilot.com.example", "https://githubcopilot.com.example/copilot_internal/v2/token"),
        (None, "http://127.0.0.1:8/run/1/", "http://127.0.0.1:8/run/1/copilot_internal/v2/token"),
        ("https://api.corp.ghe.com/copilot_internal/v2/token", "https://copilot-api.corp.ghe.com", None),
    ],
)
def test_where_a_token_is_issued(token_url: str | None, base_url: str | None, expected: str | None) -> None:
    assert token_url_of(token_url, base_of(base_url)) == (expected or token_url)


@pytest.mark.parametrize(
    ("base", "issued_for", "expected"),
    [
        (None, None, API),
        (None, "https://api.individual.githubcopilot.com/", "https://api.individual.githubcopilot.com"),
        (None, "http://api.individual.githubcopilot.com", API),
        ("http://127.0.0.1:8", "https://api.individual.githubcopilot.com", "http://127.0.0.1:8"),
    ],
)
def test_where_requests_go(base: str | None, issued_for: str | None, expected: str) -> None:
    assert api_of(base, issued_for) == expected


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/"])
def test_an_address_may_end_as_it_likes(tail: str) -> None:
    capture = Capture()
    chat(f"http://example.invalid{tail}", transport=capture.transport).complete(HI)
    assert capture.exchanges[0].url == "http://example.invalid/copilot_internal/v2/token"
    assert capture.requests[0].url == "http://example.invalid/chat/completions"


def test_without_an_address_of_ones_own_the_plans_host_is_asked(httpx2_mock: Any) -> None:
    api = "https://api.business.githubcopilot.com"
    httpx2_mock.get(TOKEN_URL).respond(json=issued(endpoints={"api": api}))
    route = httpx2_mock.post(f"{api}/responses").respond(json=response_of_codex())
    assert codex("").complete(HI).text == "hi"
    assert route.call_count == 1


# -- the exchange as a request


def test_the_exchange_names_the_github_token_and_the_editor_and_the_request_the_session_token() -> None:
    capture = Capture()
    provider = chat(transport=capture.transport, editor_version="mine/1", integration_id="other")
    provider.complete(HI)
    provider.complete(HI, on_chunk=unheard)
    (exchange,) = capture.exchanges
    assert exchange.method == "GET"
    assert exchange.headers["authorization"] == f"token {KEY}"
    for request in (exchange, *capture.requests):
        assert request.headers["editor-version"] == "mine/1"
        assert request.headers["copilot-integration-id"] == "other"
        assert request.headers["editor-plugin-version"].startswith("copilot-chat/")
        assert request.headers["x-github-api-version"] == "2025-05-01"
    assert [request.headers["authorization"] for request in capture.requests] == ["Bearer token-1"] * 2


def test_a_token_is_exchanged_shortly_before_it_ends() -> None:
    capture, clock = Capture(), Clock()
    provider = chat(transport=capture.transport, clock=clock)
    provider.complete(HI)
    clock.now += 1500
    provider.complete(HI)
    assert [request.headers["authorization"] for request in capture.requests] == ["Bearer token-1", "Bearer token-2"]


@pytest.mark.parametrize("name", KEYS)
def test_a_github_token_may_stand_in_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for each in KEYS:
        monkeypatch.delenv(each, raising=False)
    capture = Capture()
    with pytest.raises(errors.AuthenticationError, match="or GITHUB_TOKEN"):
        codex(transport=capture.transport).initialize({})
    monkeypatch.setenv(name, "gho_env")
    provider = chat(transport=capture.transport)
    provider.initialize({"base_url": "http://example.invalid", "transport": capture.transport})
    provider.complete(HI)
    assert capture.exchanges[-1].headers["authorization"] == "token gho_env"


def test_nothing_of_the_environment_that_is_openais_goes_to_copilot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-x")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-x")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: secret\nAuthorization: Bearer sk-y")
    capture = Capture()
    chat(transport=capture.transport).complete(HI)
    headers = capture.requests[0].headers
    assert capture.requests[0].url.host == "example.invalid"
    assert not {"openai-organization", "openai-project", "x-mine"} & set(headers)
    assert headers["authorization"] == "Bearer token-1"


# -- refused


def refusing(status: int, times: int) -> tuple[list[httpx2.Request], httpx2.MockTransport]:
    """A service that refuses so many requests, and answers the next; every exchange gives another token."""
    seen: list[httpx2.Request] = []
    tokens = count(1)

    def handle(request: httpx2.Request) -> httpx2.Response:
        if "copilot_internal" in request.url.path:
            return httpx2.Response(200, json=issued(f"secret-{next(tokens)}"))
        seen.append(request)
        if len(seen) <= times:
            return httpx2.Response(status, content=f"unauthorized: {request.headers['authorization']} {KEY}")
        reply = response_of_codex() if request.url.path == "/responses" else answer("hi")
        return httpx2.Response(200, json=reply)

    return seen, httpx2.MockTransport(handle)


ASKING = {
    "chat": lambda transport: chat(transport=transport).complete(HI),
    "chat-legacy": lambda transport: chat_legacy(transport=transport).send_message("hi"),
    "codex": lambda transport: codex(transport=transport).complete(HI),
    "codex-legacy": lambda transport: codex_legacy(transport=transport).send_message("hi"),
}
asking = pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)


@asking
def test_a_token_that_is_refused_before_its_time_is_exchanged_once_more(ask: Any) -> None:
    seen, transport = refusing(401, times=1)
    assert ask(transport).text == "hi"
    assert [request.headers["authorization"] for request in seen] == ["Bearer secret-1", "Bearer secret-2"]


@asking
def test_a_second_refusal_is_the_callers_and_shows_neither_token(ask: Any) -> None:
    seen, transport = refusing(401, times=9)
    with pytest.raises(errors.AuthenticationError) as failure:
        ask(transport)
    assert len(seen) == 2
    assert failure.value.status == 401
    shown = everything(failure.value)
    assert KEY not in shown
    assert "secret-2" not in shown


@asking
def test_a_second_exchange_that_is_refused_is_the_callers_and_shows_neither_token(ask: Any) -> None:
    tokens = iter([httpx2.Response(200, json=issued("secret-1")), httpx2.Response(403, json={"message": f"no {KEY}"})])

    def handle(request: httpx2.Request) -> httpx2.Response:
        return next(tokens) if "copilot_internal" in request.url.path else httpx2.Response(401)

    with pytest.raises(errors.AuthenticationError, match=r"no Copilot token: no \*\*\*") as failure:
        ask(httpx2.MockTransport(handle))
    assert failure.value.status == 403
    shown = everything(failure.value)
    assert KEY not in shown
    assert "secret-1" not in shown


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500])
def test_only_an_ended_token_is_a_reason_to_ask_again(status: int) -> None:
    seen, transport = refusing(status, times=9)
    with pytest.raises(errors.ProviderError) as failure:
        chat(transport=transport).complete(HI, on_chunk=unheard)
    assert (len(seen), failure.value.status) == (1, status)


EXCHANGES: list[tuple[int, dict[str, Any], type[errors.ProviderError], str]] = [
    (401, {"json": {"message": "Bad credentials", "status": "401"}}, errors.AuthenticationError, "Bad credentials"),
    (
        403,
        {"json": {"can_signup": True, "error_details": {"message": "No access to GitHub Copilot found."}}},
        errors.AuthenticationError,
        "No access to GitHub Copilot found.",
    ),
    (
        403,
        {"json": {"message": "Resource not accessible by personal access token"}},
        errors.AuthenticationError,
        "Resource not accessible by personal access token",
    ),
    (404, {"json": {"message": "Not Found"}}, errors.AuthenticationError, "Not Found"),
    (
        429,
        {"json": {"message": "API rate limit exceeded"}, "headers": {"retry-after": "9"}},
        errors.RateLimitError,
        "API rate",
    ),
    (502, {"html": "<html><h1>Bad gateway</h1></html>"}, errors.OverloadedError, "HTTP status 502"),
    (200, {"html": "<html>Sign in</html>"}, errors.TransportError, "no complete answer"),
    (200, {"json": {"message": "no token here"}}, errors.TransportError, "no complete answer"),
    (200, {"json": {"token": ""}}, errors.TransportError, "no complete answer"),
]


@pytest.mark.parametrize(("status", "body", "expected", "words"), EXCHANGES, ids=[str(each[0]) for each in EXCHANGES])
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_an_exchange_that_is_refused_is_typed_and_nothing_else_is_asked(
    status: int,
    body: dict[str, Any],
    expected: type[errors.ProviderError],
    words: str,
    streamed: bool,
    httpx2_mock: Any,
) -> None:
    httpx2_mock.get(TOKEN_URL).respond(status, **body)
    with pytest.raises(errors.ProviderError, match=words) as failure:
        chat("").complete(HI, **(STREAMED if streamed else {}))
    assert type(failure.value) is expected
    assert failure.value.status == (None if expected is errors.TransportError else status)
    assert failure.value.retry_after == (9 if expected is errors.RateLimitError else None)
    assert KEY not in everything(failure.value)


def test_an_exchange_that_does_not_reach_github_is_a_transport_error(httpx2_mock: Any) -> None:
    httpx2_mock.get(TOKEN_URL).mock(side_effect=httpx2.ConnectError(f"no way {KEY}"))
    with pytest.raises(errors.TransportError) as failure:
        codex("").complete(HI)
    assert failure.value.retryable
    assert KEY not in everything(failure.value)


# -- cancelled


def holding_exchange(stall: threading.Event) -> Any:
    def script(exchange: Exchange) -> None:
        stall.set()
        exchange.wait_for_hangup()

    return script


@pytest.mark.parametrize("opened", [chat, codex], ids=["chat", "codex"])
def test_a_call_cancelled_while_its_token_is_exchanged_was_never_sent(opened: Any) -> None:
    stall = threading.Event()
    with scripted(holding_exchange(stall)) as server:
        provider = opened(server.url)
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token))
        assert stall.wait(LIMIT)
        running.token.cancel()
        assert isinstance(running.result(), errors.Cancelled)
        assert server.hung_up.wait(LIMIT)


def test_a_call_cancelled_in_its_second_exchange_had_been_sent() -> None:
    stall = threading.Event()
    scripts = [
        lambda exchange: exchange.answer(issued()),
        lambda exchange: exchange.answer({"error": {"message": "expired"}}, 401),
        holding_exchange(stall),
    ]
    with scripted(*scripts) as server:
        provider = chat(server.url)
        running = BackgroundCall(lambda token: provider.complete(HI, cancel_token=token))
        assert stall.wait(LIMIT)
        running.token.cancel()
        assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)


def test_a_call_cancelled_while_it_waits_for_anothers_second_exchange_had_been_sent() -> None:
    stall = threading.Event()
    scripts = [
        lambda exchange: exchange.answer(issued()),
        lambda exchange: exchange.answer({}, 401),
        holding_exchange(stall),
        lambda exchange: exchange.answer({}, 401),
    ]
    with scripted(*scripts) as server:
        provider = chat(server.url)
        first, second = behind_another(lambda token: provider.complete(HI, cancel_token=token), stall)
        second.token.cancel()
        assert second.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)
        first.token.cancel()
        assert first.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)


def test_a_token_that_is_set_already_asks_for_nothing() -> None:
    capture, token = Capture(), CancelToken()
    token.cancel()
    for provider in (chat(transport=capture.transport), codex(transport=capture.transport)):
        with pytest.raises(errors.Cancelled):
            provider.complete(HI, cancel_token=token)
    assert not capture.exchanges


# -- lifecycle


@pytest.mark.parametrize("opened", [chat, chat_legacy, codex, codex_legacy])
def test_a_provider_is_connected_until_it_is_shut_down(opened: Any) -> None:
    capture = Capture({"data": []})
    provider = opened(transport=capture.transport)
    assert provider.is_connected
    provider.shutdown()
    provider.shutdown()
    assert not provider.is_connected
    ask = provider.complete if hasattr(provider, "complete") else provider.send_message_with_parts
    with pytest.raises(errors.UsageError, match="not open"):
        ask(HI if hasattr(provider, "complete") else HI[0].parts)
    with pytest.raises(errors.UsageError, match="not open"):
        provider.list_models()


LISTING = {
    "data": [
        {"id": "gpt-4.1", "object": "model", "supported_endpoints": ["/chat/completions"]},
        {"id": "gpt-5.3-codex", "object": "model", "supported_endpoints": ["/responses"]},
        {"id": "gpt-5.4", "object": "model", "supported_endpoints": ["/chat/completions", "/responses"]},
        {"id": "old", "object": "model"},
    ]
}


def test_models_are_those_that_are_served_on_the_path() -> None:
    capture = Capture(LISTING)
    assert chat(transport=capture.transport).list_models() == ["gpt-4.1", "gpt-5.4", "old"]
    assert codex(transport=capture.transport).list_models() == ["gpt-5.3-codex", "gpt-5.4", "old"]
    assert capture.requests[0].url.path == "/models"


@pytest.mark.parametrize("opened", [chat, codex], ids=["chat", "codex"])
def test_whether_a_token_gives_access_is_asked_of_the_service(opened: Any) -> None:
    assert opened(transport=Capture(LISTING).transport).verify_auth()
    _, refused = refusing(401, times=9)
    assert not opened(transport=refused).verify_auth()
    _, broken = refusing(500, times=9)
    with pytest.raises(errors.OverloadedError):
        opened(transport=broken).verify_auth()
