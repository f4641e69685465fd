"""The token endpoint as a call meets it: what its refusals mean, and that one exchange serves all threads."""

from __future__ import annotations

import threading
from typing import Any

import httpx
import pytest

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, Message, ProviderResponse

from ..background_call import BackgroundCall, behind_another, full_listener, wait_until
from ..scripted_server import LIMIT, Exchange, scripted
from .kit import PROJECT, URL, envelope, stateless, text

HI = [Message.user("hi")]
GRANTED = {"access_token": "ya29.fresh", "expires_in": 3599, "token_type": "Bearer"}


def provider(url: str, token_url: str | None = None, count: int = 1) -> Any:
    accounts = [{"refresh_token": f"1//{n}", "project": PROJECT} for n in range(count)]
    client = {"client_id": "c", "client_secret": "the-secret", "token_url": token_url or f"{url}/token"}
    return stateless(url, accounts=accounts, **client)


@pytest.mark.parametrize(
    ("status", "body", "expected", "kind"),
    [
        (400, {"error": "invalid_grant", "error_description": "Expired."}, errors.AuthenticationError, "invalid_grant"),
        (401, {"error": "invalid_client"}, errors.AuthenticationError, "invalid_client"),
        (400, {"error": "unauthorized_client"}, errors.AuthenticationError, "unauthorized_client"),
        (400, {"error": "invalid_request"}, errors.InvalidRequestError, "invalid_request"),
        (503, {}, errors.OverloadedError, None),
        (200, {"token": "x"}, errors.TransportError, None),
        (200, [], errors.TransportError, None),
    ],
)  # fmt: skip
def test_what_the_token_endpoint_says_is_typed(
    status: int, body: Any, expected: type[errors.ProviderError], kind: str | None, httpx2_mock: Any
) -> None:
    httpx2_mock.post(f"{URL}/token").respond(status, json=body)
    with pytest.raises(errors.ProviderError) as failure:
        provider(URL).complete(HI)
    assert type(failure.value) is expected
    assert failure.value.kind == kind
    if status >= 400:
        assert failure.value.status == status


def test_an_endpoint_that_fails_for_one_account_is_asked_for_the_next(httpx2_mock: Any) -> None:
    # The routes are respx's, and take the responses of its own HTTP client.
    httpx2_mock.post(f"{URL}/token").side_effect = [httpx.Response(503), httpx.Response(200, json=GRANTED)]
    route = httpx2_mock.route(url__startswith=f"{URL}/v1internal:").respond(json=envelope(text("hi")))
    assert provider(URL, count=2).complete(HI).text == "hi"
    assert route.calls.last.request.headers["authorization"] == "Bearer ya29.fresh"


def test_one_exchange_serves_all_threads() -> None:
    arrival, go = threading.Event(), threading.Event()

    def script(exchange: Exchange) -> None:
        if exchange.path != "/token":
            exchange.answer(envelope(text("hi")))
            return
        arrival.set()
        assert go.wait(LIMIT)
        exchange.answer(GRANTED)

    with scripted(script) as server:
        new_provider = provider(server.url)
        running = [BackgroundCall(lambda token: new_provider.complete(HI, cancel_token=token)) for _ in range(4)]
        assert arrival.wait(LIMIT)
        wait_until(lambda: all("_wait" in each.frames or each.is_reading for each in running))
        go.set()
        for each in running:
            response = each.result()
            assert isinstance(response, ProviderResponse), response
        paths = [exchange.path for exchange in server.requests]
    assert paths.count("/token") == 1
    assert paths.count("/v1internal:generateContent") == 4


@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_the_exchange_is_cut_with_the_turn(streamed: bool) -> None:
    """Nothing was asked yet: the turn was cancelled before its request was written."""
    stall = threading.Event()

    def script(exchange: Exchange) -> None:
        stall.set()
        exchange.wait_for_hangup()

    with scripted(script) as server:
        new_provider = provider(server.url)
        recorder: dict[str, Any] = {"on_chunk": lambda piece: None} if streamed else {}
        running = BackgroundCall(lambda token: new_provider.complete(HI, cancel_token=token, **recorder))
        assert stall.wait(LIMIT)
        running.token.cancel()
        assert isinstance(running.result(), errors.Cancelled)
        assert server.hung_up.wait(LIMIT), "the token endpoint did not see the cut"
        assert [exchange.path for exchange in server.requests] == ["/token"]


def test_a_turn_that_waits_for_anothers_exchange_can_be_cancelled_and_leaves_it_alone() -> None:
    stall, go = threading.Event(), threading.Event()

    def script(exchange: Exchange) -> None:
        if exchange.path == "/token":
            stall.set()
            assert go.wait(LIMIT)
            exchange.answer(GRANTED)
        else:
            exchange.answer(envelope(text("hi")))

    with scripted(script) as server:
        new_provider = provider(server.url)
        first, second = behind_another(lambda token: new_provider.complete(HI, cancel_token=token), stall)
        second.token.cancel()
        assert isinstance(second.result(), errors.Cancelled)
        go.set()
        response = first.result()
        assert isinstance(response, ProviderResponse)
        assert response.text == "hi"


def test_an_exchange_that_cannot_even_connect_is_cut() -> None:
    with full_listener() as url:
        new_provider = provider(URL, token_url=f"{url}/token")
        running = BackgroundCall(lambda token: new_provider.complete(HI, cancel_token=token))
        wait_until(lambda: "connect_tcp" in running.frames)
        running.token.cancel()
        assert isinstance(running.result(), errors.Cancelled)


def test_a_cancel_after_one_account_was_refused_ends_the_call_as_cancelled() -> None:
    """A request was written: that no other account may be tried any more leaves an answer that nothing came of."""
    stall = threading.Event()

    def script(exchange: Exchange) -> None:
        if exchange.path != "/token":
            exchange.answer({"error": {"code": 403, "message": "no"}}, 403)
        elif b"1%2F%2F1" in exchange.body:
            stall.set()
            exchange.wait_for_hangup()
        else:
            exchange.answer(GRANTED)

    with scripted(script) as server:
        new_provider = provider(server.url, count=2)
        running = BackgroundCall(lambda token: new_provider.complete(HI, cancel_token=token))
        assert stall.wait(LIMIT)
        running.token.cancel()
        assert running.result() == ProviderResponse(finish_reason=FinishReason.CANCELLED)


def test_a_token_that_is_set_before_the_call_asks_nobody(httpx2_mock: Any) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(errors.Cancelled):
        provider(URL).complete(HI, cancel_token=token)
    assert not httpx2_mock.calls
