"""Who holds a session's cache plugin, what it is told, and what observers hear of a lost prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from cache.plugins import Marker, Named

from turnproof.cache import CachePlugin, CacheUsage, PrefixLoss, Prepared
from turnproof.cancel import CancelToken
from turnproof.errors import CacheExpiredError, OverloadedError, UsageError
from turnproof.gc import GCConfig, TruncateGC
from turnproof.messages import CacheMark, ProviderResponse, Text, TokenUsage
from turnproof.session import Session

from .fakes import PATHS, FakeLegacy, FakeStateless, Naps, Watching, open_session, reply

CACHE_EXPIRED = CacheExpiredError("CachedContent not found", name="cache-1", status=403)


def cached(text: str, read: int = 0, written: int = 0, fresh: int = 0) -> ProviderResponse:
    """An answer whose prompt was served, stored and paid for in these parts."""
    prompt = read + written + fresh
    usage = TokenUsage(prompt, 2, prompt + 2, cache_read_tokens=read, cache_creation_tokens=written)
    return ProviderResponse(reply(text).parts, usage, reply(text).finish_reason)


class HoldsPlugin:
    """What can be given a plugin."""

    name = "holder"
    cache_plugin: CachePlugin | None = None

    def set_cache_plugin(self, plugin: CachePlugin | None) -> None:
        self.cache_plugin = plugin


class Holder(HoldsPlugin, FakeStateless):
    """A provider that can be given a plugin."""

    model_name = "model"


class LegacyHolder(HoldsPlugin, FakeLegacy):
    """A provider that owns the history, and can be given a plugin."""


# Held by the session


def test_what_is_sent_is_marked_and_what_is_held_is_not() -> None:
    plugin = Marker()
    session, provider = open_session("stateless", reply("a"), reply("b"), system="be brief", cache_plugin=plugin)
    session.send("one")
    session.send("two")
    sent = provider.requests[1]
    assert sent.system == Text("be brief", cache=CacheMark())
    assert [message.parts[0].cache for message in sent.messages] == [None, None, CacheMark()]
    assert [message.parts[0].cache for message in session.history.messages] == [None] * 4


def test_nothing_is_set_on_a_stateless_provider() -> None:
    provider = Holder(reply("a"))
    Session(provider, system="s", cache_plugin=Marker()).send("one")
    assert provider.cache_plugin is None
    assert provider.requests[0].system == Text("s", cache=CacheMark())


def test_the_plugin_is_told_of_a_collection() -> None:
    plugin = Marker()
    session, _ = open_session("stateless", reply("a"), reply("b"), system="s", cache_plugin=plugin)
    session.send("one")
    session.send("two")
    session.collect(keep_turns=1)
    assert plugin.collected == [(4, 2)]


def test_the_plugin_knows_the_budget_of_the_session() -> None:
    plugin = Marker()
    session, _ = open_session("stateless", system="s", cache_plugin=plugin)
    assert plugin.budgets == [session.budget]


def test_a_plugin_that_comes_with_another_provider_is_told_the_budget_too() -> None:
    theirs, provider = Marker(), Holder()
    provider.set_cache_plugin(theirs)
    session, _ = open_session("stateless", system="s")
    session.swap(provider)
    assert theirs.budgets == [session.budget]


def test_a_cancel_in_the_plugin_ends_the_turn_before_anything_is_sent() -> None:
    """As when a managed cache is being stored: the turn waits for nothing, and says nothing."""

    class Storing(Marker):
        def prepare(self, messages: Any, system: Any, tools: Any, *, cancel_token: Any = None) -> Prepared:
            cancel_token.cancel()
            cancel_token.raise_if_cancelled()
            raise AssertionError("cancelled")

    session, provider = open_session("stateless", system="s", cache_plugin=Storing())
    assert session.send("one").outcome == "cancelled"
    assert provider.requests == []
    assert not session.history


def test_the_plugin_is_given_the_token_of_the_call() -> None:
    seen: list[CancelToken] = []

    class Asking(Marker):
        def prepare(self, messages: Any, system: Any, tools: Any, *, cancel_token: Any = None) -> Prepared:
            seen.append(cancel_token)
            return super().prepare(messages, system, tools)

    session, provider = open_session("stateless", reply("a"), system="s", cache_plugin=Asking())
    session.send("one")
    assert seen == [provider.requests[0].kwargs["cancel_token"]]


# Held by the provider


@pytest.mark.parametrize("given_to_both", [False, True])
def test_a_provider_with_a_plugin_of_its_own_is_left_to_it(given_to_both: bool) -> None:
    plugin, provider = Marker(), Holder(reply("a"), reply("b"))
    provider.set_cache_plugin(plugin)
    session = Session(provider, system="s", cache_plugin=plugin if given_to_both else None)
    session.send("one")
    session.send("two")
    assert plugin.prepared == [], "the provider's affair"
    assert provider.requests[1].system == "s"
    session.collect(keep_turns=1)
    assert plugin.collected == [(4, 2)]


@pytest.mark.parametrize("kind", [Holder, LegacyHolder])
def test_two_plugins_for_one_request_are_refused(kind: Any) -> None:
    provider = kind()
    provider.set_cache_plugin(Marker("theirs"))
    with pytest.raises(UsageError, match=r"two cache plugins .*'mine' of the session and 'theirs' of the provider"):
        Session(provider, path="stateless" if kind is Holder else "legacy", cache_plugin=Marker("mine"))


def test_a_provider_that_owns_the_history_is_given_the_sessions_plugin() -> None:
    plugin, provider = Marker(), LegacyHolder(reply("a"))
    Session(provider, path="legacy", cache_plugin=plugin).send("one")
    assert provider.cache_plugin is plugin
    assert plugin.prepared == []


def test_a_provider_that_owns_the_history_and_takes_no_plugin_is_left_alone() -> None:
    session, provider = open_session("legacy", reply("a"), system="be brief", cache_plugin=Marker())
    session.send("one")
    assert provider.requests[0].system == "be brief"


def test_a_lost_managed_cache_of_the_providers_plugin_costs_one_more_call() -> None:
    provider = Holder(CACHE_EXPIRED, reply("hello"))
    provider.set_cache_plugin(Named())
    assert Session(provider, system="s").send("hi").text == "hello"
    assert len(provider.requests) == 2


# Meant for another provider


def test_a_plugin_for_another_provider_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="'marker' is for 'anthropic', and this provider is 'holder'"):
        Session(Holder(), cache_plugin=Marker(provider_name="anthropic"))


@pytest.mark.parametrize("name", ["", "holder"])
def test_a_plugin_for_any_provider_or_for_this_one_is_used(name: str) -> None:
    provider, plugin = Holder(reply("a")), Marker(provider_name=name)
    Session(provider, system="s", cache_plugin=plugin).send("one")
    assert plugin.prepared == [1]


def test_a_plugin_rests_while_another_provider_is_used() -> None:
    class Other(Holder):
        name = "other"

    holder, other, plugin = Holder(reply("a"), reply("c")), Other(reply("b")), Marker(provider_name="holder")
    session = Session(holder, system="s", cache_plugin=plugin)
    session.send("one")
    session.swap(other)
    session.send("two")
    assert other.requests[0].system == "s"
    session.swap(holder)
    session.send("three")
    assert plugin.prepared == [1, 5]


def test_a_swap_to_a_provider_with_another_plugin_leaves_the_session_as_it_was() -> None:
    holder, theirs = Holder(reply("a"), reply("b")), Holder()
    theirs.set_cache_plugin(Marker("theirs"))
    session = Session(holder, system="s", cache_plugin=Marker("mine"))
    with pytest.raises(UsageError, match="two cache plugins"):
        session.swap(theirs)
    assert session.provider is holder
    assert session.send("on").text == "a"


# What it measures


def watched(path: str, *steps: Any, **options: Any) -> tuple[Session, list[PrefixLoss]]:
    losses: list[PrefixLoss] = []
    session, _ = open_session(
        path,
        *steps,
        system="s" * 100,
        cache_plugin=Marker(),
        observers=[Watching(on_prefix_lost=losses.append)],
        **options,
    )
    return session, losses


@pytest.mark.parametrize("path", PATHS)
def test_observers_hear_what_a_collection_cost(path: str) -> None:
    steps = [cached("a" * 400, written=200), cached("b" * 400, read=200, written=200), cached("c", written=300)]
    session, losses = watched(path, *steps)
    for words in ("x" * 400, "y" * 400):
        session.send(words)
    session.collect(keep_turns=1)
    session.send("z")
    assert [(loss.turn, loss.reason, loss.kept) for loss in losses] == [(2, "gc", 0)]
    assert 0 < losses[0].tokens <= 300
    assert session.prefix.losses == tuple(losses)
    assert session.prefix.totals == CacheUsage(read=200, written=700)


def test_a_collection_of_the_sessions_own_accord_is_heard_of_too() -> None:
    session, losses = watched(
        "stateless",
        *(cached("a" * 400, written=200), cached("b" * 400, read=200, written=700), cached("c", written=300)),
        gc=TruncateGC(),
        gc_config=GCConfig(context_limit=1000, keep_turns=1),
    )
    for words in ("x" * 400, "y" * 400, "z"):
        session.send(words)
    assert [loss.reason for loss in losses] == ["gc"]


@pytest.mark.parametrize("path", PATHS)
def test_a_history_that_goes_back_and_is_read_again_loses_nothing(path: str) -> None:
    session, losses = watched(path, *(cached("a", read=100 * n, written=100) for n in range(3)), cached("b", read=100))
    for words in ("one", "two", "three"):
        session.send(words)
    session.revert_to_turn(0)
    session.send("again")
    assert losses == []


def test_a_call_that_is_repeated_is_one_loss() -> None:
    failed = OverloadedError("busy", status=529)
    steps = [cached("a", written=100), failed, failed, cached("b", written=100, fresh=20)]
    session, losses = watched("stateless", *steps, sleep=Naps())
    session.send("one")
    session.set_system("another")
    session.send("two")
    assert [loss.reason for loss in losses] == ["system"]


def test_another_provider_has_another_cache() -> None:
    session, losses = watched("stateless", cached("a", written=100))
    session.send("one")
    session.swap(Holder(cached("b", written=120)))
    session.send("two")
    assert [loss.reason for loss in losses] == ["swap"]


def test_another_model_of_the_same_provider_has_another_cache() -> None:
    provider, losses = Holder(cached("a", written=100), cached("b", written=120)), list[PrefixLoss]()
    session = Session(
        provider, system="s" * 100, cache_plugin=Marker(), observers=[Watching(on_prefix_lost=losses.append)]
    )
    provider.model_name = "small"
    session.send("one")
    provider.model_name = "large"
    session.send("two")
    assert [loss.reason for loss in losses] == ["swap"]


def test_without_a_plugin_nothing_is_measured() -> None:
    session, _ = open_session("stateless", cached("a", read=100), cached("b"))
    session.send("one")
    session.send("two")
    assert session.prefix.totals == CacheUsage()
    assert session.prefix.losses == ()


@dataclass
class Failing(Marker):
    """Raises wherever it may not fail a turn."""

    def extract_usage(self, usage: TokenUsage) -> CacheUsage:
        raise RuntimeError("no figures today")

    def on_collected(self, before: Any, after: Any) -> None:
        raise RuntimeError("not now")


def test_what_a_plugin_makes_of_figures_and_collections_fails_no_turn(caplog: pytest.LogCaptureFixture) -> None:
    session, _ = open_session("stateless", reply("a"), reply("b"), system="s", cache_plugin=Failing())
    session.send("one")
    session.send("two")
    assert len(session.collect(keep_turns=1).messages) == 2
    assert [record.message for record in caplog.records] == [
        "extract_usage of the cache plugin 'marker' failed",
        "extract_usage of the cache plugin 'marker' failed",
        "on_collected of the cache plugin 'marker' failed",
    ]
