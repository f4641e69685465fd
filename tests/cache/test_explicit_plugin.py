"""Where breakpoints stand, and that a real prefix cache finds what they wrote.

The cache is the emulator's own, fed with the very bodies that the adapter sends.
"""

from __future__ import annotations

import itertools
import json
from typing import Any, Literal

import pytest
from adapters.anthropic.histories import arbitrary, ordinary_conversation
from adapters.anthropic.kit import MODEL, Capture, stateless
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof import messages as m
from turnproof.budget import InstructionBudget, Policy, Source
from turnproof.cache import CachePlugin, CacheUsage, ExplicitCachePlugin
from turnproof.dialects.anthropic_messages import DIALECT
from turnproof.dialects.base import Call, HttpRequest, PromptUsage, World

RULES = "You keep the log of a greenhouse. " * 120
TOOLS = [m.ToolSchema(name, "Reads something in the greenhouse. " * 20) for name in ("water", "air", "light")]


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

    def ask(self, messages: list[m.Message], tools: list[m.ToolSchema] = TOOLS) -> PromptUsage:
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


def talk(service: Service, turns: int, *, rounds: int, calls: int) -> list[m.Message]:
    """A session of several turns, each with rounds of parallel tool calls."""
    history: list[m.Message] = []
    for turn in range(turns):
        history.append(m.Message.user(f"Question {turn}: how moist is bed {turn}? " * 3))
        service.ask(history)
        for number in range(rounds):
            ids = [f"toolu_{turn}_{number}_{n}" for n in range(calls)]
            history.append(
                m.Message.model("Let me look. ", *(m.FunctionCall(each, "air", {"bed": turn}) for each in ids))
            )
            history.append(m.Message.tool(*(m.ToolResult(each, "air", "41 % " * 20) for each in ids)))
            service.ask(history)
        history.append(m.Message.model(f"Bed {turn} is fine. " * 5))
    return history


@pytest.mark.parametrize(("rounds", "calls"), [(0, 0), (1, 1), (3, 2), (1, 30), (12, 1)])
@pytest.mark.parametrize("ttl", ["5m", "1h"])
def test_every_request_of_a_session_reads_what_the_one_before_it_wrote(
    rounds: int, calls: int, ttl: Literal["5m", "1h"]
) -> None:
    """Wide turns too: 30 parallel calls or 12 rounds are more than the 20 positions a breakpoint looks back over."""
    service = Service(ExplicitCachePlugin(ttl=ttl))
    talk(service, 12 if rounds < 12 else 3, rounds=rounds, calls=calls)
    first = service.usages[0]
    assert first.cache_read == 0
    for before, after in itertools.pairwise(service.usages):
        assert after.cache_read == before.cache_read + before.cache_write_5m + before.cache_write_1h
        assert after.cache_read > before.cache_read
        assert (after.cache_write_1h if ttl == "1h" else after.cache_write_5m) > 0
        assert after.fresh < 20
    assert service.usages[-1].cache_read > 0.9 * service.usages[-1].whole


def test_a_session_of_200_turns_has_four_marks_in_every_request() -> None:
    """One mark for each turn, and none taken away, would be refused from the fifth on."""
    plugin, provider = ExplicitCachePlugin(), Capture()
    pure, history = stateless("http://example.invalid", transport=provider.transport), list[m.Message]()
    for turn in range(200):
        history.append(m.Message.user(f"Question {turn}"))
        prepared = plugin.prepare(history, RULES, TOOLS)
        pure.complete(prepared.messages, prepared.system, prepared.tools)
        assert marks(provider.body) == (3 if turn == 0 else 4)
        history.append(m.Message.model(f"Answer {turn}"))


def test_without_the_plugin_nothing_is_cached() -> None:
    service = Service(None)
    talk(service, 3, rounds=1, calls=1)
    assert all(usage.cache_read == usage.cache_write_5m == 0 for usage in service.usages)


def test_a_retry_and_a_cancelled_turn_still_find_the_cache() -> None:
    service = Service(ExplicitCachePlugin())
    history = talk(service, 3, rounds=1, calls=1)
    history.append(m.Message.user("and?"))
    written = service.ask(history)
    again = service.ask(history)
    assert again.cache_read == written.cache_read + written.cache_write_5m
    history.append(m.Message.user("never mind, the other bed"))
    assert service.ask(history).cache_read == again.cache_read
    history += [m.Message.model("Wel"), m.Message.user("stop. now?")]
    assert service.ask(history).cache_read > again.cache_read


def test_a_collected_history_reads_what_tools_and_system_wrote() -> None:
    service = Service(ExplicitCachePlugin())
    history = talk(service, 6, rounds=1, calls=1)
    usage = service.ask([*history[-8:], m.Message.user("and now?")])
    assert usage.cache_read > 0


def test_a_message_that_is_merged_with_the_results_before_it_keeps_its_mark() -> None:
    """After a cancelled tool loop the user speaks right behind the results: both go out in one message."""
    service = Service(ExplicitCachePlugin())
    history = talk(service, 3, rounds=1, calls=2)[:-1]
    assert [message.role for message in history[-2:]] == ["model", "tool"]
    history.append(m.Message.user("Never mind. " * 5))
    usage = service.ask(history)
    last = service.body["messages"][-1]["content"]
    assert [block["type"] for block in last] == ["tool_result", "tool_result", "text"]
    assert [block.get("cache_control") for block in last] == [None, None, {"type": "ephemeral"}]
    assert usage.cache_read == service.usages[-2].cache_read + service.usages[-2].cache_write_5m
    assert usage.fresh < 20


def test_results_that_are_merged_with_a_message_behind_them_keep_theirs() -> None:
    service = Service(ExplicitCachePlugin())
    history = talk(service, 3, rounds=1, calls=2)[:-1]
    history += [m.Message.user("Never mind. "), m.Message.model("As you wish."), m.Message.user("And bed 9?")]
    usage = service.ask(history)
    merged = service.body["messages"][-3]["content"]
    assert [block.get("cache_control") for block in merged] == [None, None, {"type": "ephemeral"}]
    assert usage.cache_read > 0


# With a budget


def budget_of(history: list[m.Message]) -> InstructionBudget:
    """The first message is locked, as it always is, and so is the answer to it."""
    budget = InstructionBudget()
    budget.mark(history[1].message_id, Source.CONVERSATION, Policy.LOCKED)
    return budget


def test_what_no_collection_takes_is_read_again_after_one_that_took_the_rest() -> None:
    """Without the breakpoint there the entry would be too far away from the next one to be found."""
    read = []
    for with_budget in (False, True):
        plugin = ExplicitCachePlugin()
        service = Service(plugin)
        prefix = [m.Message.user("The plan: " + "water bed 3. " * 400), m.Message.model("A good plan.")]
        history = [*prefix, m.Message.user("Let us go.")]
        plugin.set_budget(budget_of(history) if with_budget else None)
        for turn in range(12):
            service.ask(history)
            history += [m.Message.model(f"Noted {turn}. "), m.Message.user("Another line. " * 30)]
        read.append(service.ask([*prefix, *history[-3:]]).cache_read)
    assert read[1] > read[0] > 0


def test_the_place_where_what_stays_ends_is_marked_instead_of_the_tools() -> None:
    plugin, history = ExplicitCachePlugin(minimum_tokens=1), ordinary_conversation(9)
    plugin.set_budget(budget_of(history))
    prepared = plugin.prepare(history, RULES, TOOLS)
    assert [n for n, message in enumerate(prepared.messages) if any(part.cache for part in message.parts)] == [1, 6, 8]
    assert [tool.cache for tool in prepared.tools] == [None] * 3
    assert plugin.prepare(history, None, TOOLS).tools[-1].cache == m.CacheMark()


def test_a_few_words_that_stay_are_not_worth_the_breakpoint_of_the_tools() -> None:
    plugin, history = ExplicitCachePlugin(), ordinary_conversation(9)
    plugin.set_budget(budget_of(history))
    prepared, plain = (each.prepare(history, RULES, TOOLS) for each in (plugin, ExplicitCachePlugin()))
    assert m.dump_messages(prepared.messages) == m.dump_messages(plain.messages)
    assert prepared.tools[-1].cache == m.CacheMark()


def test_nothing_changes_where_what_stays_is_marked_anyway() -> None:
    plugin, history = ExplicitCachePlugin(minimum_tokens=1), ordinary_conversation(3)
    plain = plugin.prepare(history, RULES, TOOLS)
    plugin.set_budget(budget_of(history))
    assert plugin.prepare(history, RULES, TOOLS) == plain
    plugin.set_budget(None)
    assert plugin.prepare(history, RULES, TOOLS) == plain


@examples(100)
@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.integers(0, 6))
def test_marks_are_four_at_most_and_nothing_else_changes(
    seed: int, with_tools: bool, with_system: bool, locked: int
) -> None:
    messages = [_unmarked(message) for message in arbitrary(seed)]
    tools = TOOLS if with_tools else []
    before = m.dump_messages(messages)
    plugin, budget = ExplicitCachePlugin(minimum_tokens=1), InstructionBudget()
    for message in messages[:locked]:
        budget.mark(message.message_id, Source.CONVERSATION, Policy.LOCKED)
    plugin.set_budget(budget)
    prepared = plugin.prepare(messages, RULES if with_system else None, tools)
    assert m.dump_messages(messages) == before
    assert [message.message_id for message in prepared.messages] == [message.message_id for message in messages]
    assert all(m.same(_unmarked(new), old) for new, old in zip(prepared.messages, messages, strict=True))
    carriers = [part for message in prepared.messages for part in message.parts if part.cache]
    carriers_in_front = [thing for thing in (*prepared.tools, prepared.system) if getattr(thing, "cache", None)]
    assert len(carriers) + len(carriers_in_front) <= 4
    assert len(carriers_in_front) == with_system + (with_tools and len(carriers) + with_system < 4)


def _unmarked(message: m.Message) -> m.Message:
    from msgspec.structs import replace

    return m.Message(message.role, tuple(replace(part, cache=None) for part in message.parts), message.message_id)


def test_the_last_tool_by_name_carries_the_mark() -> None:
    prepared = ExplicitCachePlugin(minimum_tokens=1).prepare([], None, TOOLS)
    assert [(tool.name, tool.cache) for tool in prepared.tools] == [
        ("air", None),
        ("light", None),
        ("water", m.CacheMark()),
    ]
    assert [tool.cache for tool in TOOLS] == [None] * 3


@pytest.mark.parametrize(
    ("parts", "marked"),
    [
        ((m.Text("a"), m.Text("b")), 1),
        ((m.Text("a"), m.Text("  ")), 0),
        ((m.Text("a"), m.InlineData("image/png", b"x")), 1),
        ((m.Text("a"), m.Thought("hm"), m.Opaque("anthropic-messages", "x", {})), 0),
    ],
)
def test_the_mark_goes_on_the_last_part_that_can_carry_one(parts: tuple[m.Part, ...], marked: int) -> None:
    prepared = ExplicitCachePlugin(minimum_tokens=1).prepare([m.Message("user", parts)], None, None)
    assert [n for n, part in enumerate(prepared.messages[0].parts) if part.cache] == [marked]


def test_a_message_that_cannot_carry_a_mark_leaves_it_to_the_one_before() -> None:
    messages = [m.Message.user("aaa"), m.Message.model(m.Thought("hm")), m.Message.user(" ")]
    prepared = ExplicitCachePlugin(minimum_tokens=1).prepare(messages, None, None)
    assert [any(part.cache for part in message.parts) for message in prepared.messages] == [True, False, False]


def test_what_is_surely_too_small_to_be_cached_is_not_marked() -> None:
    prepared = ExplicitCachePlugin().prepare([m.Message.user("hi")], "rules", [m.ToolSchema("a")])
    assert prepared.system == "rules"
    assert not any(part.cache for message in prepared.messages for part in message.parts)
    assert prepared.tools[0].cache is None


def test_a_new_plugin_marks_as_an_old_one_does() -> None:
    old, history = ExplicitCachePlugin(minimum_tokens=1), ordinary_conversation(21)
    for end in range(1, 22, 4):
        old.prepare(history[:end], RULES, TOOLS)
    fresh = ExplicitCachePlugin(minimum_tokens=1).prepare(history, RULES, TOOLS)
    again = old.prepare(history, RULES, TOOLS)
    assert m.dump_messages(again.messages) == m.dump_messages(fresh.messages)
    assert (again.system, again.tools) == (fresh.system, fresh.tools)


def test_usage_is_told_apart_into_read_written_and_fresh() -> None:
    plugin = ExplicitCachePlugin()
    usage = plugin.extract_usage(m.TokenUsage(1000, 10, 1010, cache_read_tokens=700, cache_creation_tokens=250))
    assert usage == CacheUsage(read=700, written=250, fresh=50)
    assert usage.hit_rate == pytest.approx(0.7)
    assert plugin.extract_usage(m.TokenUsage()).hit_rate == 0.0
    assert isinstance(plugin, CachePlugin)


def test_no_cache_of_the_messages_api_has_a_name_to_lose() -> None:
    assert not ExplicitCachePlugin().lost("cachedContents/7abc")
