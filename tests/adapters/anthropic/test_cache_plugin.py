"""A cache plugin marks what the path that owns its history sends, as it marks what a session sends."""

from __future__ import annotations

import pytest

from turnproof.cache import ExplicitCachePlugin

from .histories import TOOLS
from .kit import Capture, legacy, stateless

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
URL = "http://example.invalid"


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
