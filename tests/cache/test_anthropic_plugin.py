"""Where breakpoints stand, and that a real prefix cache finds what they wrote.

The cache is the emulator's own, fed with the very bodies that the adapter sends.
"""

from __future__ import annotations

import itertools
import json
from typing import Any, Literal

import pytest
from adapters.anthropic.histories import arbitrary, grown
from adapters.anthropic.kit import MODEL, Capture, stateless
from hypothesis import given
from hypothesis import strategies as st

from turnproof.cache import CachePlugin, CacheUsage
from turnproof.cache.anthropic import AnthropicCachePlugin
from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, World
from turnproof.messages import (
    CacheMark,
    FunctionCall,
    InlineData,
    Message,
    Opaque,
    Part,
    Text,
    Thought,
    TokenUsage,
    ToolResult,
    ToolSchema,
    dump_messages,
    same,
)

RULES = "You keep the log of a greenhouse. " * 120
TOOLS = [ToolSchema(name, "Reads something in the greenhouse. " * 20) for name in ("water", "air", "light")]


def marks(body: dict[str, Any]) -> int:
    return json.dumps(body).count('"cache_control"')


class Service:
    """A session's requests, converted by the adapter and accounted for by a prefix cache."""

    def __init__(self, plugin: CachePlugin | None) -> None:
        self.usages: list[PromptUsage] = []
        self.plugin = plugin
        self.body: dict[str, Any] = {}
        self._now = 0.0
        self._capture = Capture()
        self._provider = stateless("http://example.invalid", transport=self._capture.transport)
        self._cache = DIALECT.new_cache()
        self._world = World(frozenset(), DIALECT.models, lambda: self._now, any_key=True)

    def ask(self, messages: list[Message], tools: list[ToolSchema] = TOOLS) -> PromptUsage:
        prepared = self.plugin.prepare(messages, RULES, tools) if self.plugin else None
        if prepared is None:
            self._provider.complete(messages, RULES, tools)
        else:
            self._provider.complete(prepared.messages, prepared.system, prepared.tools)
        sent = self._capture.requests[-1]
        request = HttpRequest("POST", "/v1/messages", {}, dict(sent.headers), bytes(sent.content))
        call = DIALECT.parse(request, self._world)
        assert isinstance(call, Call), call
        assert [refusal for refusal in DIALECT.validate(request, call, self._world) if refusal.enforced] == []
        usage, commit = self._cache.account(call, DIALECT.models[MODEL], self._now)
        commit()
        self.body = self._capture.body
        self.usages.append(usage)
        return usage


def talk(service: Service, turns: int, *, rounds: int, calls: int) -> list[Message]:
    """A session of several turns, each with rounds of parallel tool calls."""
    history: list[Message] = []
    for turn in range(turns):
        history.append(Message.user(f"Question {turn}: how moist is bed {turn}? " * 3))
        service.ask(history)
        for number in range(rounds):
            ids = [f"toolu_{turn}_{number}_{n}" for n in range(calls)]
            history.append(Message.model("Let me look. ", *(FunctionCall(each, "air", {"bed": turn}) for each in ids)))
            history.append(Message.tool(*(ToolResult(each, "air", "41 % " * 20) for each in ids)))
            service.ask(history)
        history.append(Message.model(f"Bed {turn} is fine. " * 5))
    return history


@pytest.mark.parametrize(("rounds", "calls"), [(0, 0), (1, 1), (3, 2), (1, 30), (12, 1)])
@pytest.mark.parametrize("ttl", ["5m", "1h"])
def test_every_request_of_a_session_reads_what_the_one_before_it_wrote(
    rounds: int, calls: int, ttl: Literal["5m", "1h"]
) -> None:
    """Wide turns too: 30 parallel calls or 12 rounds are more than the 20 positions a breakpoint looks back over."""
    service = Service(AnthropicCachePlugin(ttl=ttl))
    talk(service, 12, rounds=rounds, calls=calls)
    first = service.usages[0]
    assert first.cache_read == 0
    for before, after in itertools.pairwise(service.usages):
        assert after.cache_read == before.cache_read + before.cache_write_5m + before.cache_write_1h
        assert after.cache_read > before.cache_read
        assert (after.cache_write_1h if ttl == "1h" else after.cache_write_5m) > 0
        assert after.fresh < 20
    assert service.usages[-1].cache_read > 0.9 * service.usages[-1].whole


def test_without_the_plugin_nothing_is_cached() -> None:
    service = Service(None)
    talk(service, 3, rounds=1, calls=1)
    assert all(usage.cache_read == usage.cache_write_5m == 0 for usage in service.usages)


def test_a_retry_and_a_cancelled_turn_still_find_the_cache() -> None:
    service = Service(AnthropicCachePlugin())
    history = talk(service, 3, rounds=1, calls=1)
    history.append(Message.user("and?"))
    written = service.ask(history)
    again = service.ask(history)
    assert again.cache_read == written.cache_read + written.cache_write_5m
    history.append(Message.user("never mind, the other bed"))
    assert service.ask(history).cache_read == again.cache_read
    history += [Message.model("Wel"), Message.user("stop. now?")]
    assert service.ask(history).cache_read > again.cache_read


def test_a_collected_history_reads_what_tools_and_system_wrote() -> None:
    service = Service(AnthropicCachePlugin())
    history = talk(service, 6, rounds=1, calls=1)
    usage = service.ask([*history[-8:], Message.user("and now?")])
    assert usage.cache_read > 0


@given(st.integers(0, 10_000), st.booleans(), st.booleans())
def test_marks_are_four_at_most_and_nothing_else_changes(seed: int, with_tools: bool, with_system: bool) -> None:
    messages = [_unmarked(message) for message in arbitrary(seed)]
    tools = TOOLS if with_tools else []
    before = dump_messages(messages)
    prepared = AnthropicCachePlugin(minimum_tokens=1).prepare(messages, RULES if with_system else None, tools)
    assert dump_messages(messages) == before
    assert [message.message_id for message in prepared.messages] == [message.message_id for message in messages]
    assert all(same(_unmarked(new), old) for new, old in zip(prepared.messages, messages, strict=True))
    carriers = [part for message in prepared.messages for part in message.parts if part.cache]
    carriers_in_front = [thing for thing in (*prepared.tools, prepared.system) if getattr(thing, "cache", None)]
    assert len(carriers) <= 2
    assert len(carriers_in_front) == with_tools + with_system


def _unmarked(message: Message) -> Message:
    from msgspec.structs import replace

    return Message(message.role, tuple(replace(part, cache=None) for part in message.parts), message.message_id)


def test_the_last_tool_by_name_carries_the_mark() -> None:
    prepared = AnthropicCachePlugin(minimum_tokens=1).prepare([], None, TOOLS)
    assert [(tool.name, tool.cache) for tool in prepared.tools] == [
        ("air", None),
        ("light", None),
        ("water", CacheMark()),
    ]
    assert [tool.cache for tool in TOOLS] == [None] * 3


@pytest.mark.parametrize(
    ("parts", "marked"),
    [
        ((Text("a"), Text("b")), 1),
        ((Text("a"), Text("  ")), 0),
        ((Text("a"), InlineData("image/png", b"x")), 1),
        ((Text("a"), Thought("hm"), Opaque("anthropic-messages", "x", {})), 0),
    ],
)
def test_the_mark_goes_on_the_last_part_that_can_carry_one(parts: tuple[Part, ...], marked: int) -> None:
    prepared = AnthropicCachePlugin(minimum_tokens=1).prepare([Message("user", parts)], None, None)
    assert [n for n, part in enumerate(prepared.messages[0].parts) if part.cache] == [marked]


def test_a_message_that_cannot_carry_a_mark_leaves_it_to_the_one_before() -> None:
    messages = [Message.user("aaa"), Message.model(Thought("hm")), Message.user(" ")]
    prepared = AnthropicCachePlugin(minimum_tokens=1).prepare(messages, None, None)
    assert [any(part.cache for part in message.parts) for message in prepared.messages] == [True, False, False]


def test_what_is_surely_too_small_to_be_cached_is_not_marked() -> None:
    prepared = AnthropicCachePlugin().prepare([Message.user("hi")], "rules", [ToolSchema("a")])
    assert prepared.system == "rules"
    assert not any(part.cache for message in prepared.messages for part in message.parts)
    assert prepared.tools[0].cache is None


def test_a_new_plugin_marks_as_an_old_one_does() -> None:
    old, history = AnthropicCachePlugin(minimum_tokens=1), grown(21)
    for end in range(1, 22, 4):
        old.prepare(history[:end], RULES, TOOLS)
    fresh = AnthropicCachePlugin(minimum_tokens=1).prepare(history, RULES, TOOLS)
    again = old.prepare(history, RULES, TOOLS)
    assert dump_messages(again.messages) == dump_messages(fresh.messages)
    assert (again.system, again.tools) == (fresh.system, fresh.tools)


def test_usage_is_told_apart_into_read_written_and_fresh() -> None:
    plugin = AnthropicCachePlugin()
    usage = plugin.extract_usage(TokenUsage(1000, 10, 1010, cache_read_tokens=700, cache_creation_tokens=250))
    assert usage == CacheUsage(read=700, written=250, fresh=50)
    assert usage.hit_rate == pytest.approx(0.7)
    assert plugin.extract_usage(TokenUsage()).hit_rate == 0.0
    assert isinstance(plugin, CachePlugin)


def test_a_collection_that_takes_cached_messages_away_is_counted() -> None:
    plugin, history = AnthropicCachePlugin(), grown(8)
    plugin.on_collected(history, [*history, Message.user("more")])
    assert plugin.invalidations == 0
    plugin.on_collected(history, history[4:])
    plugin.on_collected(history, [Message.user("summary"), *history[4:]])
    assert plugin.invalidations == 2


def test_no_cache_of_the_messages_api_has_a_name_to_lose() -> None:
    assert not AnthropicCachePlugin().lost("cachedContents/7abc")
