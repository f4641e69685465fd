"""Every failure is one of turnproof's errors, decided by status and type; the key is in none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof.messages import Message
from turnproof_adapters.anthropic.errors import from_answer
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.anthropic.stateless import AnthropicStateless
from turnproof_adapters.anthropic.wire import Failure

from ..callback_recorder import CallbackRecorder
from ..faults import raised_by
from ..scripted_server import Exchange, scripted
from .kit import KEY, legacy, stateless, stream, text_block
from .refusals import INVALID

HI = [Message.user("hi")]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def fails(provider: Any, call: Callable[[Any], object]) -> errors.ProviderError:
    return raised_by(lambda: call(provider))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html><h1>503 Service Unavailable</h1></html>", "HTTP status 503"),
        (b"", "HTTP status 503"),
        (b'["odd"]', "HTTP status 503"),
        (b'{"error": "odd"}', "HTTP status 503"),
        (b'{"error": {"type": 7}}', "HTTP status 503"),
        (b'{"error": {"type": "api_error"}}', "api_error"),
    ],
)
def test_a_proxys_page_is_typed_by_its_status(body: bytes, message: str) -> None:
    with scripted(lambda exchange: exchange.answer(body, 503)) as server:
        failure = fails(stateless(server.url), lambda provider: provider.complete(HI))
    assert isinstance(failure, errors.OverloadedError)
    assert failure.message == message


@pytest.mark.parametrize(("advice", "status", "retryable"), [("false", 529, False), ("true", 400, True)])
def test_the_service_may_say_itself_whether_to_try_again(advice: str, status: int, retryable: bool) -> None:
    with scripted(lambda exchange: exchange.answer({}, status, **{"x-should-retry": advice})) as server:
        failure = fails(stateless(server.url), lambda provider: provider.complete(HI))
    assert failure.retryable is retryable


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_document_that_is_no_message_is_a_transport_error() -> None:
    with scripted(lambda exchange: exchange.answer({"type": "message", "content": "text"})) as server:
        for failure in (
            fails(stateless(server.url), lambda provider: provider.complete(HI)),
            fails(legacy(server.url), lambda provider: provider.send_message("hi")),
        ):
            assert type(failure) is errors.TransportError
            assert failure.retryable


def test_an_error_event_without_words_shows_the_status_that_it_came_under() -> None:
    failure = from_answer(Failure(), ANTHROPIC, KEY)
    assert (failure.message, failure.status, failure.kind) == ("HTTP status 200", 200, None)


def test_an_error_event_may_tell_of_a_full_context() -> None:
    failure = from_answer(Failure(INVALID, "prompt is too long: 3333404 tokens > 200000 maximum"), ANTHROPIC, KEY)
    assert isinstance(failure, errors.ContextLimitError)
    assert (failure.limit, failure.requested, failure.status, failure.kind) == (200000, 3333404, 200, INVALID)


WAYS: dict[str, Callable[[str], object]] = {
    "stateless-batch": lambda url: stateless(url).complete(HI),
    "stateless-stream": lambda url: stateless(url).complete(HI, **CallbackRecorder().callbacks),
    "legacy-batch": lambda url: legacy(url).send_message("hi"),
    "legacy-stream": lambda url: legacy(url).send_message_streaming("hi", print),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_failure_under_a_good_status_is_typed_by_its_kind(way: Callable[[str], object]) -> None:
    """As gateways tell it that have no status to give; a stream that was asked for comes in one piece then."""
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    with scripted(lambda exchange: exchange.answer(body)) as server, pytest.raises(errors.RateLimitError) as failure:
        way(server.url)
    assert (failure.value.status, failure.value.kind, failure.value.message) == (200, "rate_limit_error", "slow down")


@pytest.mark.parametrize("way", [WAYS["stateless-stream"], WAYS["legacy-stream"]], ids=["stateless", "legacy"])
def test_a_stream_is_read_whatever_its_content_is_called(way: Callable[[str], Any]) -> None:
    def mislabelled(exchange: Exchange) -> None:
        exchange.answer(b"".join(stream(text_block(0, "so"))))

    with scripted(mislabelled) as server:
        assert way(server.url).text == "so"


@pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
@pytest.mark.parametrize("page", [b"<html></html>", b"[]", b""], ids=["html", "list", "empty"])
def test_a_page_where_models_belong_is_a_transport_error(page: bytes, opened: Any) -> None:
    with scripted(lambda exchange: exchange.answer(page, 200, **{"content-type": "text/html"})) as server:
        provider = opened(server.url)
        for ask in (provider.list_models, provider.verify_auth):
            with pytest.raises(errors.TransportError, match="no JSON object"):
                ask()


@pytest.mark.parametrize("opened", [stateless, legacy], ids=["stateless", "legacy"])
def test_a_bad_key_under_a_good_status_is_a_bad_key(opened: Any) -> None:
    body = {"type": "error", "error": {"type": "authentication_error", "message": "no"}}
    with scripted(lambda exchange: exchange.answer(body)) as server:
        assert not opened(server.url).verify_auth()


@pytest.mark.parametrize(
    ("response", "kind", "reason"),
    [
        (httpx2.Response(304), None, "HTTP status 304"),
        (httpx2.Response(300, json={"error": {"type": "choices", "message": "one of two"}}), "choices", "one of two"),
    ],
    ids=["empty", "worded"],
)
@pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
def test_a_status_for_neither_an_answer_nor_an_error_is_a_transport_error(
    response: httpx2.Response, kind: str | None, reason: str, streamed: bool
) -> None:
    provider = stateless("http://example.invalid", transport=httpx2.MockTransport(lambda _: response))
    callbacks = CallbackRecorder().callbacks if streamed else {}
    failure = fails(provider, lambda provider: provider.complete(HI, **callbacks))
    assert type(failure) is errors.TransportError
    assert (failure.status, failure.kind) == (response.status_code, kind)
    assert failure.message == f"no answer under this status: {reason}"


def test_an_empty_key_is_none() -> None:
    with pytest.raises(errors.AuthenticationError, match="api_key"):
        AnthropicStateless().initialize({"api_key": ""})
