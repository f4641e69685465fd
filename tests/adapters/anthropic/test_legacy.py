"""The path that owns its history: what that holds after each kind of call, and that it says the same on the wire."""

from __future__ import annotations

import pytest

from turnproof.cache import ExplicitCachePlugin
from turnproof.messages import Message

from .histories import TOOLS, arbitrary, grown
from .kit import Capture, legacy, stateless

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"


@pytest.mark.parametrize("history", [*map(grown, (1, 3, 20)), *map(arbitrary, range(10))])
def test_both_paths_say_the_same_on_the_wire(history: list[Message]) -> None:
    old, new = Capture(), Capture()
    *earlier, last = [*history, Message.user("so?")]
    provider = legacy(URL, transport=old.transport)
    provider.create_session("rules", TOOLS, earlier)
    provider.send_message(last.text)
    stateless(URL, transport=new.transport).complete([*earlier, last], "rules", TOOLS)
    assert old.body == new.body
    assert set(old.requests[0].headers) == set(new.requests[0].headers)


def test_a_cache_plugin_marks_the_requests_of_both_paths_alike() -> None:
    old, new, plugin = Capture(), Capture(), ExplicitCachePlugin(minimum_tokens=1)
    provider, pure = legacy(URL, transport=old.transport), stateless(URL, transport=new.transport)
    provider.set_cache_plugin(ExplicitCachePlugin(minimum_tokens=1))
    provider.create_session("rules", TOOLS)
    for n in range(4):
        provider.send_message(f"question {n}")
        prepared = plugin.prepare(provider.get_history()[:-1], "rules", TOOLS)
        pure.complete(prepared.messages, prepared.system, prepared.tools)
        assert old.body == new.body
        assert str(old.body).count("cache_control") == (3 if n == 0 else 4)
    assert all(part.cache is None for message in provider.get_history() for part in message.parts)
    provider.set_cache_plugin(None)
    provider.send_message("plain")
    assert "cache_control" not in str(old.body)
