"""Managed caches through the SDK: made, named in requests of both paths, lost, and deleted at the end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import pytest

from turnproof import errors
from turnproof.cache import ManagedCachePlugin, Prepared
from turnproof.cancel import CancelToken
from turnproof.messages import Message, ToolSchema
from turnproof.session import Session, Tool, TurnResult
from turnproof_adapters.google_genai.binding import BINDING
from turnproof_adapters.google_genai.legacy import GoogleLegacy
from turnproof_adapters.google_genai.stateless import GoogleStateless

from ..background_call import BackgroundCall, write_and_hold
from ..scripted_server import LIMIT, scripted
from .kit import KEY, MODEL, answer, legacy, stateless, stream, text

RULES = "You run a harbour desk. " * 200
TOOLS = [ToolSchema("berth_free", "Is a berth free"), ToolSchema("assign", "Assign a berth")]
TOO_SMALL = "Cached content is too small. total_token_count=16, min_total_token_count=1024"
NO_CACHE = "CachedContent not found (or permission denied)"


class Service:
    """Keeps caches in memory and answers `hi`, unless a request names a cache that it does not have."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []
        self.caches: dict[str, Any] = {}
        self.refusal: httpx2.Response | None = None
        self.transport = httpx2.MockTransport(self._handle)

    def stateless(self) -> GoogleStateless:
        return stateless(transport=self.transport)

    def legacy(self) -> GoogleLegacy:
        return legacy(transport=self.transport)

    @property
    def cache_requests(self) -> list[Any]:
        """The bodies that asked for a cache."""
        return [json.loads(each.content) for each in self.requests if each.method == "POST" and _is_cache(each)]

    @property
    def deleted(self) -> list[str]:
        return [_name_in(each) for each in self.requests if each.method == "DELETE"]

    @property
    def answer_requests(self) -> list[Any]:
        """The bodies that asked for an answer."""
        return [json.loads(each.content) for each in self.requests if not _is_cache(each)]

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if _is_cache(request):
            return self.refusal or (self._make(request) if request.method == "POST" else self._delete(request))
        body = json.loads(request.content)
        if body.get("cachedContent", "") not in ("", *self.caches):
            return refused(403, NO_CACHE)
        if "streamGenerateContent" in str(request.url):
            return httpx2.Response(200, content=b"".join(stream(text("hi"))))
        return httpx2.Response(200, json=answer(text("hi")))

    def _make(self, request: httpx2.Request) -> httpx2.Response:
        name = f"cachedContents/{len(self.cache_requests)}"
        self.caches[name] = json.loads(request.content)
        return httpx2.Response(200, json={"name": name, "model": f"models/{MODEL}"})

    def _delete(self, request: httpx2.Request) -> httpx2.Response:
        if self.caches.pop(_name_in(request), None) is None:
            return refused(403, NO_CACHE)
        return httpx2.Response(200, json={})


def refused(status: int, message: str) -> httpx2.Response:
    return httpx2.Response(status, json={"error": {"code": status, "message": message, "status": "WORD"}})


def _is_cache(request: httpx2.Request) -> bool:
    return "/cachedContents" in request.url.path


def _name_in(request: httpx2.Request) -> str:
    found = re.search("cachedContents/.+", request.url.path)
    assert found is not None
    return found[0]


# Made and deleted


@pytest.mark.parametrize("open_", [Service.stateless, Service.legacy])
def test_a_cache_is_made_of_system_text_and_tools(open_: Callable[[Service], Any]) -> None:
    service = Service()
    assert open_(service).create_cache(RULES, TOOLS, ttl_seconds=600) == "cachedContents/1"
    (body,) = service.cache_requests
    assert body["model"] == f"models/{MODEL}"
    assert body["ttl"] == "600s"
    assert body["systemInstruction"]["parts"] == [{"text": RULES}]
    assert [each["name"] for each in body["tools"][0]["functionDeclarations"]] == ["assign", "berth_free"]
    assert body.keys() == {"model", "ttl", "systemInstruction", "tools"}
    assert service.requests[0].headers["x-goog-api-key"] == KEY


@pytest.mark.parametrize(
    ("system", "tools", "field"), [(RULES, [], "systemInstruction"), (None, TOOLS, "tools"), ("  ", TOOLS, "tools")]
)
def test_what_is_not_there_is_not_kept(system: str | None, tools: list[ToolSchema], field: str) -> None:
    service = Service()
    service.stateless().create_cache(system, tools, ttl_seconds=60)
    assert service.cache_requests[0].keys() == {"model", "ttl", field}


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (
            refused(400, TOO_SMALL),
            errors.InvalidRequestError,
        ),
        (refused(503, "later"), errors.OverloadedError),
        (httpx2.Response(200, json={}), errors.TransportError),
        (httpx2.Response(200, content=b"<html>"), errors.TransportError),
    ],
)
def test_a_refusal_to_keep_something_is_typed(refusal: httpx2.Response, kind: type[Exception]) -> None:
    service = Service()
    service.refusal = refusal
    provider = service.stateless()
    with pytest.raises(kind):
        provider.create_cache(RULES, TOOLS, ttl_seconds=60)
    provider.shutdown()
    assert service.deleted == []


def test_a_cache_is_deleted_by_its_name() -> None:
    service = Service()
    provider = service.stateless()
    provider.delete_cache(provider.create_cache(RULES, [], ttl_seconds=60))
    assert service.caches == {}
    with pytest.raises(errors.AuthenticationError, match="not found"):
        provider.delete_cache("cachedContents/1")


@pytest.mark.parametrize("open_", [Service.stateless, Service.legacy])
def test_what_was_made_is_deleted_at_shutdown(open_: Callable[[Service], Any]) -> None:
    service = Service()
    provider = open_(service)
    names = [provider.create_cache(f"{n} {RULES}", [], ttl_seconds=60) for n in range(3)]
    provider.delete_cache(names[1])
    provider.shutdown()
    assert service.caches == {}
    assert service.deleted == [names[1], names[0], names[2]]
    provider.shutdown()
    assert len(service.deleted) == 3


def test_a_cache_that_cannot_be_deleted_is_in_nobodys_way() -> None:
    service = Service()
    provider = service.legacy()
    provider.create_cache(RULES, [], ttl_seconds=60)
    service.refusal = refused(500, "no")
    provider.shutdown()
    assert len(service.deleted) == 1
    with pytest.raises(errors.UsageError):
        provider.create_cache(RULES, [], ttl_seconds=60)


def test_a_provider_that_was_never_opened_can_be_shut_down() -> None:
    GoogleLegacy().shutdown()
    GoogleStateless().shutdown()


# Named


@pytest.mark.parametrize(
    ("model", "large_enough"), [(MODEL, True), ("gemini-2.5-flash", True), ("gemini-3-pro-preview", False)]
)
def test_the_bindings_plugin_is_of_the_claimed_kind_and_knows_what_the_model_stores(
    model: str, large_enough: bool
) -> None:
    """A pro model stores nothing below 4096 tokens."""
    service = Service()
    assert BINDING.cache_plugin is not None
    plugin = BINDING.cache_plugin(stateless(model=model, transport=service.transport))
    assert plugin.name == BINDING.claims(model).cache
    plugin.prepare([Message.user("hi")], RULES, [])
    assert bool(service.cache_requests) is large_enough


@pytest.mark.parametrize("streamed", [False, True])
def test_requests_of_the_legacy_path_name_the_cache_instead_of_what_it_holds(streamed: bool) -> None:
    service = Service()
    provider = service.legacy()
    provider.set_cache_plugin(ManagedCachePlugin(provider))
    provider.create_session(RULES, TOOLS)
    schema = {"type": "object"}
    for words in ("hello", "again"):
        if streamed:
            provider.send_message_streaming(words, lambda piece: None, response_schema=schema)
        else:
            provider.send_message(words, response_schema=schema)
    assert len(service.cache_requests) == 1
    assert [body["cachedContent"] for body in service.answer_requests] == ["cachedContents/1"] * 2
    assert all(body.keys() == {"contents", "cachedContent", "generationConfig"} for body in service.answer_requests)
    assert service.answer_requests[1]["generationConfig"]["responseJsonSchema"] == schema
    assert [message.text for message in provider.get_history()] == ["hello", "hi", "again", "hi"]
    provider.set_cache_plugin(None)
    provider.send_message("in full")
    assert service.answer_requests[-1].keys() >= {"systemInstruction", "tools"}


def test_a_prefix_that_is_too_small_goes_out_in_full() -> None:
    service = Service()
    service.refusal = refused(400, TOO_SMALL)
    provider = service.legacy()
    provider.set_cache_plugin(ManagedCachePlugin(provider))
    provider.create_session(RULES, TOOLS)
    for words in ("hello", "again"):
        provider.send_message(words)
    assert len(service.cache_requests) == 1
    assert all(body.keys() >= {"systemInstruction", "tools"} for body in service.answer_requests)


def test_a_lost_cache_fails_the_call_once_and_leaves_the_history_as_it_was() -> None:
    service = Service()
    provider = service.legacy()
    provider.set_cache_plugin(ManagedCachePlugin(provider))
    provider.create_session(RULES, TOOLS)
    provider.send_message("hello")
    service.caches.clear()
    with pytest.raises(errors.CacheExpiredError) as failure:
        provider.send_message("again")
    assert failure.value.name == "cachedContents/1"
    assert [message.text for message in provider.get_history()] == ["hello", "hi"]
    provider.send_message("again")
    assert service.answer_requests[-1]["cachedContent"] == "cachedContents/2"
    assert [message.text for message in provider.get_history()] == ["hello", "hi", "again", "hi"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("path", ["stateless", "legacy"])
def test_a_session_goes_on_where_the_service_has_lost_the_cache(path: Any, streamed: bool) -> None:
    service = Service()
    provider: Any = service.stateless() if path == "stateless" else service.legacy()
    plugin = ManagedCachePlugin(provider)
    if path == "legacy":
        provider.set_cache_plugin(plugin)
    tools = [Tool(schema, lambda args, token: None) for schema in TOOLS]
    session = Session(provider, path=path, system=RULES, tools=tools, cache_plugin=plugin)
    shown: list[str] = []
    on_chunk = shown.append if streamed else None
    session.send("hello", on_chunk=on_chunk)
    service.caches.clear()
    assert session.send("again", on_chunk=on_chunk).text == "hi"
    assert "".join(shown) == ("hihi" if streamed else "")
    names = [body["cachedContent"] for body in service.answer_requests]
    assert names == ["cachedContents/1", "cachedContents/1", "cachedContents/2"]
    assert [message.text for message in session.history.messages] == ["hello", "hi", "again", "hi"]


def test_both_paths_name_a_cache_alike() -> None:
    service = Service()
    old, new = service.legacy(), service.stateless()
    old.set_cache_plugin(ManagedCachePlugin(new))
    old.create_session(None, TOOLS * 60)
    old.send_message("hello")
    prepared = ManagedCachePlugin(new).prepare([Message.user("hello")], None, TOOLS * 60)
    new.complete(prepared.messages, prepared.system, prepared.tools)
    first, second = service.answer_requests
    assert first["cachedContent"] == "cachedContents/1"
    assert second == {"contents": [{"role": "user", "parts": [{"text": "hello"}]}], "cachedContent": "cachedContents/2"}
    assert first == {**second, "cachedContent": "cachedContents/1", "generationConfig": {}}


# Held by the provider


class Watching(ManagedCachePlugin):
    """Keeps what it is shown of every call."""

    def __init__(self, provider: GoogleStateless | GoogleLegacy) -> None:
        super().__init__(provider)
        self.shown: list[tuple[list[str], CancelToken | None]] = []

    def prepare(self, messages: Sequence[Message], *args: Any, cancel_token: CancelToken | None = None) -> Prepared:
        self.shown.append(([message.text for message in messages], cancel_token))
        return super().prepare(messages, *args, cancel_token=cancel_token)


@pytest.mark.parametrize("path", ["stateless", "legacy"])
def test_a_plugin_is_shown_the_whole_conversation_and_what_cancels_it(path: str) -> None:
    service, token = Service(), CancelToken()
    provider: Any = service.stateless() if path == "stateless" else service.legacy()
    plugin = Watching(provider)
    provider.set_cache_plugin(plugin)
    history = [Message.user("hello"), Message.model("hi"), Message.user("again")]
    if path == "stateless":
        provider.complete(history[:1], RULES)
        provider.complete(history, RULES, cancel_token=token)
    else:
        provider.create_session(RULES)
        provider.send_message("hello")
        provider.send_message("again", cancel_token=token)
    assert plugin.shown == [(["hello"], None), (["hello", "hi", "again"], token)]


def test_the_service_is_given_half_a_minute_to_keep_or_forget_something() -> None:
    """Nothing is lost by going on without it; an answer is waited for much longer."""
    service = Service()
    provider = service.stateless()
    provider.delete_cache(provider.create_cache(RULES, [], ttl_seconds=60))
    provider.complete([Message.user("hello")])
    assert [set(request.extensions["timeout"].values()) for request in service.requests[:2]] == [{30.0}, {30.0}]
    assert service.requests[2].extensions["timeout"]["read"] > 30


@pytest.mark.parametrize("streamed", [False, True])
def test_a_provider_of_the_stateless_path_annotates_its_calls_itself(streamed: bool) -> None:
    service, shown = Service(), list[str]()
    provider, pure = service.stateless(), service.stateless()
    plugin = ManagedCachePlugin(provider)
    provider.set_cache_plugin(plugin)
    assert provider.cache_plugin is plugin
    history, on_chunk = [Message.user("hello")], shown.append if streamed else None
    assert provider.complete(history, RULES, TOOLS, on_chunk=on_chunk).text == "hi"
    prepared = plugin.prepare(history, RULES, TOOLS)
    pure.complete(prepared.messages, prepared.system, prepared.tools, on_chunk=on_chunk)
    first, second = (request.content for request in service.requests if not _is_cache(request))
    assert first == second
    assert len(service.cache_requests) == 1
    provider.set_cache_plugin(None)
    provider.complete(history, RULES, TOOLS, on_chunk=on_chunk)
    assert service.answer_requests[-1].keys() >= {"systemInstruction", "tools"}


def test_a_lost_cache_fails_a_stateless_call_once() -> None:
    service = Service()
    provider = service.stateless()
    provider.set_cache_plugin(ManagedCachePlugin(provider))
    provider.complete([Message.user("hello")], RULES, TOOLS)
    service.caches.clear()
    with pytest.raises(errors.CacheExpiredError):
        provider.complete([Message.user("again")], RULES, TOOLS)
    assert provider.complete([Message.user("again")], RULES, TOOLS).text == "hi"
    assert service.answer_requests[-1]["cachedContent"] == "cachedContents/2"


# Cancelled


def talking(url: str, holder: str) -> Session:
    provider: Any = legacy(url) if holder == "legacy provider" else stateless(url)
    plugin = ManagedCachePlugin(provider)
    if holder == "provider":
        provider.set_cache_plugin(plugin)
    path: Any = "legacy" if holder == "legacy provider" else "stateless"
    return Session(provider, path=path, system=RULES, cache_plugin=None if holder == "provider" else plugin)


@pytest.mark.parametrize("holder", ["session", "provider", "legacy provider"])
def test_a_turn_that_is_cancelled_while_a_cache_is_made_waits_for_nothing(holder: str) -> None:
    """The service would have been given half a minute; the connection is cut instead, and nothing else is sent."""
    script, stall = write_and_hold()
    with scripted(script) as server:
        session = talking(server.url, holder)
        running = BackgroundCall(lambda token: session.send("hello", cancel_token=token))
        assert stall.wait(LIMIT)
        running.wait_until_reading()
        running.token.cancel()
        result = running.result()
        assert server.hung_up.wait(LIMIT), "the service did not see the cut"
    assert isinstance(result, TurnResult), result
    assert result.outcome == "cancelled"
    assert [(each.method, each.path.rpartition("/")[2]) for each in server.requests] == [("POST", "cachedContents")]
    assert not session.history


@pytest.mark.parametrize("holder", ["session", "provider", "legacy provider"])
def test_the_turn_after_it_has_its_prefix_kept(holder: str) -> None:
    script, stall = write_and_hold()
    cache = {"name": "cachedContents/1", "model": f"models/{MODEL}"}
    with scripted(script, lambda each: each.answer(cache), lambda each: each.answer(answer(text("hi")))) as server:
        session = talking(server.url, holder)
        running = BackgroundCall(lambda token: session.send("hello", cancel_token=token))
        assert stall.wait(LIMIT)
        running.wait_until_reading()
        running.token.cancel()
        running.result()
        assert session.send("again").text == "hi"
        assert server.requests[-1].json["cachedContent"] == "cachedContents/1"


def test_a_name_that_arrives_just_as_the_turn_is_cancelled_is_not_forgotten() -> None:
    """It has been stored, and is paid for until it is deleted."""
    service, token = Service(), CancelToken()

    def handle(request: httpx2.Request) -> httpx2.Response:
        token.cancel()
        return service._handle(request)

    provider = stateless(transport=httpx2.MockTransport(handle))
    assert provider.create_cache(RULES, [], ttl_seconds=60, cancel_token=token) == "cachedContents/1"
    provider.shutdown()
    assert service.caches == {}


def test_a_token_that_is_set_already_sends_nothing() -> None:
    service, token = Service(), CancelToken()
    token.cancel()
    provider = service.stateless()
    with pytest.raises(errors.Cancelled):
        provider.create_cache(RULES, [], ttl_seconds=60, cancel_token=token)
    with pytest.raises(errors.Cancelled):
        provider.delete_cache("cachedContents/1", cancel_token=token)
    assert service.requests == []


def test_a_deletion_that_was_cut_is_made_up_for_at_shutdown() -> None:
    script, stall = write_and_hold()
    cache = {"name": "cachedContents/1", "model": f"models/{MODEL}"}
    with scripted(lambda each: each.answer(cache), script, lambda each: each.answer({})) as server:
        provider = stateless(server.url)
        name = provider.create_cache(RULES, [], ttl_seconds=60)
        running = BackgroundCall(lambda token: provider.delete_cache(name, cancel_token=token))
        assert stall.wait(LIMIT)
        running.wait_until_reading()
        running.token.cancel()
        assert isinstance(running.result(), errors.Cancelled)
        provider.shutdown()
        assert [each.method for each in server.requests] == ["POST", "DELETE", "DELETE"]
        assert server.requests[1].path == server.requests[2].path
