"""A managed cache that the service has lost: the session asks once more, and nobody notices."""

from __future__ import annotations

from typing import Any

import pytest
from cache.plugins import Named

from turnproof.cache import CachePlugin
from turnproof.errors import CacheExpiredError
from turnproof.messages import FinishReason, Text

from .fakes import Play, Step, open_session, reply, shape


def expiry_error(name: str = "cache-1") -> CacheExpiredError:
    return CacheExpiredError("CachedContent not found (or permission denied)", name=name, status=403)


def on_the_legacy_path(*steps: Step, **callbacks: Any) -> tuple[Any, Any, Any]:
    session, provider = open_session("legacy", *steps, system="rules")
    return session, provider, lambda: session.send("hi", **callbacks)


def ask(plugin: CachePlugin | None, *steps: Step, **callbacks: Any) -> tuple[Any, Any, Any]:
    session, provider = open_session("stateless", *steps, system="rules", cache_plugin=plugin)
    return session, provider, lambda: session.send("hi", **callbacks)


def names(provider: Any) -> list[str]:
    return [request.system.cache.name for request in provider.requests]


def test_a_lost_cache_is_named_anew_and_the_call_made_again() -> None:
    plugin = Named()
    session, provider, send = ask(plugin, expiry_error(), reply("hello"))
    result = send()
    assert (result.text, result.attempts) == ("hello", 1)
    assert names(provider) == ["cache-1", "cache-2"]
    assert plugin.names == ["cache-1"]
    assert shape(session) == [("user", (Text("hi"),)), ("model", (Text("hello"),))]


def test_what_is_shown_is_shown_once() -> None:
    shown: list[str] = []

    def answer(play: Play) -> Any:
        play.stream("he", "llo")
        return reply("hello")

    _, _, send = ask(Named(), expiry_error(), answer, on_chunk=shown.append)
    assert send().response.finish_reason is FinishReason.STOP
    assert shown == ["he", "llo"]


def test_a_second_loss_in_one_call_is_the_callers_to_know_of() -> None:
    session, provider, send = ask(Named(), expiry_error(), expiry_error("cache-2"))
    with pytest.raises(CacheExpiredError) as failure:
        send()
    assert failure.value.name == "cache-2"
    assert len(provider.requests) == 2
    assert shape(session) == []


@pytest.mark.parametrize("plugin", [None, Named(again=False)])
def test_without_another_request_to_make_the_call_fails(plugin: Named | None) -> None:
    session, provider, send = ask(plugin, expiry_error())
    with pytest.raises(CacheExpiredError):
        send()
    assert len(provider.requests) == 1
    assert shape(session) == []


def test_a_provider_that_owns_the_history_is_asked_once_more() -> None:
    """It has a plugin of its own, which has dropped the name by then."""
    session, provider, send = on_the_legacy_path(expiry_error(), reply("hello"))
    assert send().text == "hello"
    assert [request.method for request in provider.requests] == ["send_message", "send_message"]
    assert shape(session) == [("user", (Text("hi"),)), ("model", (Text("hello"),))]
    assert [message.text for message in provider.get_history()] == ["hi", "hello"]


def test_a_provider_that_owns_the_history_is_not_asked_a_third_time() -> None:
    session, provider, send = on_the_legacy_path(expiry_error(), expiry_error("cache-2"))
    with pytest.raises(CacheExpiredError):
        send()
    assert len(provider.requests) == 2
    assert shape(session) == []
