"""What holds of every adapter for a service of Anthropic's API, whoever runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx2
import pytest

from turnproof.cache import ExplicitCachePlugin
from turnproof.cancel import CancelToken
from turnproof.errors import AuthenticationError, InvalidRequestError, OverloadedError, TransportError, UsageError
from turnproof.messages import CacheMark, FinishReason, Message, Text, ToolSchema, dump_messages
from turnproof_adapters.anthropic.service import ANTHROPIC
from turnproof_adapters.ollama.service import SERVICE as OLLAMA
from turnproof_adapters.zai.service import SERVICE as ZAI

from .anthropic import kit as anthropic
from .call_modes import HI, CallMode, CallModes, fixed_answer
from .contract.wire_parts import text as wire_text
from .contract.wire_parts import thinking
from .faults import everything
from .ollama import kit as ollama
from .zai import kit as zai

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")

URL = "http://example.invalid"
ADAPTERS = {
    "anthropic": CallModes(partial(anthropic.stateless, URL), partial(anthropic.legacy, URL)),
    "zai": zai.MODES,
    "ollama": ollama.MODES,
}
OTHERS = {"zai": zai, "ollama": ollama}
KEYS = {"anthropic": anthropic.KEY, "zai": zai.KEY, "ollama": ollama.KEY}

each_adapter = pytest.mark.parametrize("name", ADAPTERS)
each_other = pytest.mark.parametrize("name", OTHERS)
each_way = pytest.mark.parametrize(
    "way", [pytest.param(way, id=f"{name}-{how}") for name, ways in ADAPTERS.items() for how, way in ways.all.items()]
)


@each_way
def test_a_page_of_a_proxy_is_typed_by_its_status(way: CallMode) -> None:
    with pytest.raises(OverloadedError) as raised:
        way(fixed_answer(502, {"content-type": "text/html"}, content=b"<html><h1>502 Bad Gateway</h1></html>"))
    assert (raised.value.status, raised.value.message) == (502, "HTTP status 502")


class Raw(httpx2.SyncByteStream):
    """A body that goes out as it is, whatever the headers say of its encoding."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self._content


JSON, SSE = {"content-type": "application/json"}, {"content-type": "text/event-stream"}
GZIP = {"content-encoding": "gzip"}


@each_way
@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({"content-type": "text/html"}, b"<html><h1>It works!</h1></html>"),
        ({"content-type": "text/plain"}, b"Ollama is running"),
        (JSON, b""),
        (JSON, b"[]"),
        (JSON, b"null"),
        (JSON, b'{"id": "msg_1", "type": "message", "content": "text"}'),
        (JSON, b'{"message": {"content": "native"}, "done": true}'),
        (JSON | GZIP, b"\x1f\x8b\x08\x00\x00"),
        (SSE | GZIP, b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03K"),
        (SSE, b""),
    ],
    ids=["html", "text", "empty", "list", "null", "no-message", "native", "gzip-cut", "gzip-stream-cut", "no-events"],
)
def test_what_is_no_answer_under_a_good_status_is_a_transport_error(
    headers: dict[str, str], content: bytes, way: CallMode
) -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, headers=headers, stream=Raw(content)))
    with pytest.raises(TransportError) as raised:
        way(transport)
    assert raised.value.retryable


@each_way
def test_an_address_that_leads_in_circles_is_a_transport_error(way: CallMode) -> None:
    def back(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(307, headers={"location": str(request.url)})

    with pytest.raises(TransportError, match="redirect"):
        way(httpx2.MockTransport(back))


@each_adapter
def test_the_key_shows_nowhere(name: str) -> None:
    key = KEYS[name]
    error_body = {"type": "error", "error": {"type": "authentication_error", "message": f"no such token: {key}"}}
    for way in ADAPTERS[name].all.values():
        with pytest.raises(AuthenticationError) as raised:
            way(fixed_answer(401, json=error_body))
        assert raised.value.message == "no such token: ***"
        assert key not in everything(raised.value)
        assert raised.value.__cause__ is None


@each_adapter
def test_calls_before_opening_and_after_shutdown_say_what_to_do(name: str) -> None:
    for opened in (ADAPTERS[name].stateless, ADAPTERS[name].legacy):
        closed = type(opened())()
        for ask in (closed.list_models, closed.verify_auth):
            with pytest.raises(UsageError, match=r"initialize\(\)"):
                ask()
        provider = opened(transport=fixed_answer(500))
        assert (provider.is_connected, provider.name) == (True, name)
        provider.shutdown()
        assert not provider.is_connected


def test_importing_a_binding_imports_no_sdk() -> None:
    names = ", ".join(repr(f"turnproof_adapters.{name}.binding") for name in ADAPTERS)
    code = (
        "import sys; from importlib import import_module;"
        f"assert [import_module(name).BINDING.claims().streaming for name in ({names})];"
        "assert not {'anthropic', 'httpx2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_services_issue_and_take_is_told_apart() -> None:
    """Two of one name would take each other's signatures for their own, two of one variable each other's keys."""
    services = (ANTHROPIC, ZAI, OLLAMA)
    assert len({service.dialect for service in services}) == len(services)
    variables = [variable for service in services for variable in service.key_variables]
    assert len(set(variables)) == len(variables)


def last_words(provider: Any, history: list[Message], **kwargs: Any) -> Any:
    """Has the last message of a conversation answered, over either path."""
    if hasattr(provider, "complete"):
        return provider.complete(history, **kwargs)
    provider.create_session(kwargs.pop("system_instruction", None), kwargs.pop("tools", None), history[:-1])
    return provider.send_message_with_parts(history[-1].parts, **kwargs)


def opened(name: str, transport: Any) -> list[Any]:
    ways = ADAPTERS[name]
    return [ways.stateless(transport=transport), ways.legacy(transport=transport)]


class Capture:
    """A transport that keeps the requests and answers `hi`."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []
        self.transport = httpx2.MockTransport(self._handle)

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return httpx2.Response(200, json=anthropic.answer(anthropic.text("hi")))


@each_adapter
@pytest.mark.parametrize("path", ["", "/proxy"], ids=["root", "path"])
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_an_address_may_end_in_the_version_or_in_a_slash(name: str, path: str, ending: str) -> None:
    capture = Capture()
    for provider in opened(name, capture.transport):
        provider.initialize({"api_key": "k", "base_url": URL + path + ending, "transport": capture.transport})
        last_words(provider, HI)
        assert str(capture.requests[-1].url) == f"{URL}{path}/v1/messages"
        assert capture.requests[-1].headers["authorization"] == "Bearer k"


@each_other
def test_cache_marks_say_nothing_to_others_and_are_not_sent(name: str) -> None:
    capture, mark = Capture(), CacheMark()
    history = [Message("user", (Text("hi", cache=mark),)), Message.model("so"), Message.user("and?")]
    for provider in opened(name, capture.transport):
        provider.set_cache_plugin(ExplicitCachePlugin())
        tools = [ToolSchema("read", "", {}, cache=mark)]
        last_words(provider, history, system_instruction=Text("rules", cache=mark), tools=tools)
        body = json.loads(capture.requests[-1].content)
        assert "cache_control" not in json.dumps(body)
        assert body["system"] == [{"type": "text", "text": "rules"}]


@each_other
def test_a_response_schema_is_refused_where_it_would_be_passed_over(name: str) -> None:
    capture = Capture()
    for provider in opened(name, capture.transport):
        assert not provider.supports_structured_output()
        with pytest.raises(InvalidRequestError, match=f"{name} does not heed a response schema"):
            last_words(provider, HI, response_schema={"type": "object"})
    assert not capture.requests


@each_other
def test_where_nobody_counts_tokens_they_are_estimated_without_a_request(name: str) -> None:
    capture = Capture()
    for provider in opened(name, capture.transport):
        assert provider.count_tokens(HI, "rules") == len(dump_messages(HI)) // 4
    assert not capture.requests


@each_other
@pytest.mark.parametrize(
    ("last", "expected"),
    [("Look ", []), ("it up.", []), ("At ", ["Look it up.", "At "])],
    ids=["in-its-middle", "at-its-last-words", "behind-it"],
)
def test_of_a_cancelled_answer_only_a_whole_thought_is_kept(name: str, last: str, expected: list[str]) -> None:
    """Thinking that nobody signs shows by nothing but its end that it is whole."""
    token, kit = CancelToken(), OTHERS[name].KIT

    def cancel(piece: str) -> None:
        if piece == last:
            token.cancel()

    events = b"".join(kit.stream(thinking("Look ", "it up."), wire_text("At ", "six.")))
    transport = fixed_answer(content=events, headers={"content-type": "text/event-stream"})
    provider = kit.open("stateless", URL, transport=transport)
    response = provider.complete(HI, cancel_token=token, on_thinking=cancel, on_chunk=cancel)
    assert response.finish_reason is FinishReason.CANCELLED
    assert [part.text for part in response.parts] == expected
    if expected:
        assert response.parts[0] == OTHERS[name].issued("Look it up.")
