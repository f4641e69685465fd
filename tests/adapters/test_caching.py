"""A provider that holds a cache plugin: what the plugin is told, and when it is asked at all."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.cache import ExplicitCachePlugin, Prepared
from turnproof.cancel import CancelToken
from turnproof.errors import CacheExpiredError
from turnproof.messages import Message, ToolSchema
from turnproof_adapters._caching import CachePluginHolder
from turnproof_adapters._calling import Prompt

HI = [Message.user("hi")]
TOOLS = [ToolSchema("ls")]


class Plugin(ExplicitCachePlugin):
    """Remembers what it was asked and told, and marks everything as its own."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[tuple[Any, ...]] = []
        self.cache_names: list[str] = []

    def prepare(self, *request: Any, cancel_token: CancelToken | None = None) -> Prepared:
        self.requests.append((*request, cancel_token))
        return Prepared((), "marked", ())

    def lost(self, name: str) -> bool:
        self.cache_names.append(name)
        return True


def test_a_held_plugin_sees_the_whole_request_and_its_token() -> None:
    holder, plugin, token = CachePluginHolder(), Plugin(), CancelToken()
    holder.set_cache_plugin(plugin)
    assert holder.cache_plugin is plugin
    assert holder._annotated(Prompt(HI, "rules", TOOLS), token).system == "marked"
    assert plugin.requests == [(HI, "rules", TOOLS, token)]


def test_without_a_plugin_a_request_is_what_it_is() -> None:
    holder = CachePluginHolder()
    assert holder.cache_plugin is None
    for prompt in (Prompt(HI, "rules", TOOLS), Prompt(HI)):
        assert holder._annotated(prompt, None) == prompt


def test_the_plugin_is_told_which_cache_the_service_has_lost() -> None:
    holder, plugin = CachePluginHolder(), Plugin()
    failure = CacheExpiredError("gone", name="cachedContents/7")
    cases: list[tuple[Plugin | None, list[str]]] = [(None, []), (plugin, ["cachedContents/7"])]
    for held_plugin, names in cases:
        holder.set_cache_plugin(held_plugin)
        with pytest.raises(CacheExpiredError) as raised, holder._telling_of_lost_caches():
            raise failure
        assert raised.value is failure
        assert plugin.cache_names == names
