"""A cache that works by itself: nothing is marked, and its figures are taken as they come."""

from __future__ import annotations

from turnproof.cache import CachePlugin, CacheUsage, ImplicitCachePlugin
from turnproof.messages import Message, Text, TokenUsage, ToolSchema


def test_a_request_goes_through_unmarked_with_its_tools_by_name() -> None:
    messages = [Message.user("hi"), Message.model("ho"), Message.user("hi again")]
    system = Text("rules")
    prepared = ImplicitCachePlugin().prepare(messages, system, [ToolSchema("b"), ToolSchema("a")])
    assert all(sent is original for sent, original in zip(prepared.messages, messages, strict=True))
    assert prepared.system is system
    assert prepared.tools == (ToolSchema("a"), ToolSchema("b"))


def test_what_was_read_is_told_from_what_was_paid_in_full() -> None:
    plugin = ImplicitCachePlugin("zhipuai")
    usage = plugin.extract_usage(TokenUsage(34, 8, 42, cache_read_tokens=14))
    assert usage == CacheUsage(read=14, written=0, fresh=20)
    assert isinstance(plugin, CachePlugin)
    assert plugin.provider_name == "zhipuai"


def test_nothing_has_a_name_that_could_be_lost() -> None:
    assert not ImplicitCachePlugin().lost("cachedContents/1")
