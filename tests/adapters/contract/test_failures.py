"""Whatever goes wrong on the way is one of turnproof's errors, alike on every path; the key is in none of them."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable

import httpx2
import pytest

from turnproof.errors import InvalidRequestError, OverloadedError, ProviderError, RateLimitError, TransportError
from turnproof.messages import Message, ToolResult

from ..faults import BROKEN, everything, exceptions_of
from ..scripted_server import Exchange, scripted
from .adapter_kit import HI, AdapterKit, OpenedPath, RequestRecorder, Subject
from .subjects import batch_and_stream, each_kit, each_subject
from .wire_parts import text

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
URL = "http://example.invalid"


def failure_of(opened: OpenedPath, streamed: bool) -> ProviderError:
    with pytest.raises(ProviderError) as failure:
        opened.ask(streamed)
    return failure.value


@each_subject
@batch_and_stream
@pytest.mark.parametrize("script", BROKEN, ids=lambda script: script.__name__)
def test_an_answer_that_does_not_arrive_whole_is_a_transport_error(
    subject: Subject, streamed: bool, script: Callable[[Exchange], None]
) -> None:
    with scripted(script) as server:
        failure = failure_of(subject.open(server.url), streamed)
    assert type(failure) is TransportError
    assert failure.retryable


@each_subject
@batch_and_stream
@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
def test_a_page_in_place_of_an_answer_is_a_transport_error(subject: Subject, streamed: bool, content_type: str) -> None:
    page = httpx2.Response(200, content=b"<html>busy</html>", headers={"content-type": content_type})
    failure = failure_of(subject.open(URL, transport=httpx2.MockTransport(lambda _: page)), streamed)
    assert type(failure) is TransportError
    assert failure.retryable


@each_subject
@batch_and_stream
@pytest.mark.parametrize("body", [b"<html><h1>Unavailable</h1></html>", b"", b'["odd"]'], ids=["page", "empty", "list"])
def test_a_refusal_of_another_form_is_typed_by_its_status(subject: Subject, streamed: bool, body: bytes) -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(503, content=body))
    failure = failure_of(subject.open(URL, transport=transport), streamed)
    assert type(failure) is OverloadedError
    assert failure.status == 503


@each_subject
@batch_and_stream
@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1]:1", "http://host.invalid", "ftp://127.0.0.1"])
def test_a_service_that_cannot_be_reached_is_a_transport_error(subject: Subject, streamed: bool, url: str) -> None:
    failure = failure_of(subject.open(url), streamed)
    assert type(failure) is TransportError
    assert failure.status is None


@each_subject
@batch_and_stream
@pytest.mark.parametrize("kind", exceptions_of(httpx2, httpx2.HTTPError), ids=lambda kind: kind.__name__)
def test_every_exception_of_the_http_client_is_typed(subject: Subject, streamed: bool, kind: type[Exception]) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise kind(f"with {subject.kit.key} in it")

    failure = failure_of(subject.open(URL, transport=httpx2.MockTransport(fail)), streamed)
    assert type(failure) is TransportError
    assert subject.kit.key not in everything(failure)


@each_subject
@batch_and_stream
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (httpx2.ReadTimeout("no byte"), "the service was silent for too long (ReadTimeout: no byte)"),
        (httpx2.ConnectError("refused"), "no complete answer from the service (ConnectError: refused)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_failures_of_the_network_say_what_went_wrong(
    subject: Subject, streamed: bool, error: Exception, message: str
) -> None:
    def fail(request: httpx2.Request) -> httpx2.Response:
        raise error

    failure = failure_of(subject.open(URL, transport=httpx2.MockTransport(fail)), streamed)
    assert (failure.message, failure.status) == (message, None)


@each_subject
@batch_and_stream
def test_the_key_shows_nowhere_although_the_service_repeats_it(
    subject: Subject, streamed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    key = subject.kit.key
    bodies = [b'{"error": {"message": "bad %b", "type": "bad %b"}}' % (key.encode(), key.encode())]
    bodies.append(b"proxy refused %b" % key.encode())
    with caplog.at_level(logging.DEBUG):
        for status, body in itertools.product((401, 500), bodies):
            response = httpx2.Response(status, content=body)
            opened = subject.open(URL, transport=httpx2.MockTransport(lambda _, response=response: response))
            failure = failure_of(opened, streamed)
            assert key not in everything(failure)
            assert failure.__cause__ is failure.__context__ is None
            assert key not in repr(opened.provider)
    assert key not in caplog.text


@each_subject
@batch_and_stream
def test_many_refused_calls_are_sent_once_each_and_leave_the_client_usable(subject: Subject, streamed: bool) -> None:
    """A refused stream that is never closed would hold its connection until the pool is empty."""
    refusals = [lambda exchange: exchange.answer({"error": {"message": "slower", "code": 429}}, 429)] * 12
    with scripted(*refusals, lambda exchange: exchange.answer(subject.kit.answer(text("hi")))) as server:
        opened = subject.open(server.url)
        for _ in refusals:
            assert type(failure_of(opened, streamed)) is RateLimitError
        assert opened.batch().text == "hi"
        assert (len(server.requests), server.connections) == (13, 1)


@each_subject
def test_text_without_a_form_in_utf_8_is_refused_before_anything_is_sent(subject: Subject) -> None:
    sent: list[httpx2.Request] = []

    def record(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(500)

    provider = subject.open(URL, transport=httpx2.MockTransport(record)).provider
    words = "half of a pair: \ud800"
    if subject.path == "legacy":
        provider.create_session(words)
    odd = Message.user(words)
    asks: list[Callable[[], object]] = [lambda: provider.complete([HI], words), lambda: provider.complete([odd])]
    if subject.path == "legacy":
        asks = [lambda: provider.send_message("hi"), lambda: provider.send_message(words)]
    messages = []
    for ask in asks:
        with pytest.raises(InvalidRequestError) as failure:
            ask()
        messages.append(failure.value.message)
    assert messages[0] == "the request holds text that is not valid Unicode: surrogates not allowed"
    assert "not valid Unicode" in messages[1]
    if subject.path == "legacy":
        assert provider.get_history() == []
    assert not sent


@each_kit
@pytest.mark.parametrize(
    "history",
    [[], [Message.user()], [Message.model("")], [Message.tool(ToolResult("gone", "f", "1"))]],
    ids=["nothing", "an-empty-message", "an-empty-answer", "an-orphan"],
)
def test_a_conversation_in_which_nothing_is_said_is_refused_before_anything_is_sent(
    kit: AdapterKit, history: list[Message]
) -> None:
    recorder = RequestRecorder(kit.answer(text("hi")), kit.stream(text("hi")))
    with pytest.raises(InvalidRequestError):
        kit.open("stateless", URL, transport=recorder.transport).complete(history)
    assert recorder.requests == []
