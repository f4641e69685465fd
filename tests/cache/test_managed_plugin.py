"""When a prefix is stored under a name, for how long the name is used, and that no turn depends on it.

The service is a list of what it was asked: which requests a plugin makes is what costs money here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from adapters.background_call import BackgroundCall, wait_until
from adapters.scripted_server import LIMIT

from turnproof import errors
from turnproof.cache import CachePlugin, CacheUsage, ManagedCachePlugin, Prepared
from turnproof.cache.managed import PAUSE_SECONDS
from turnproof.cancel import CancelToken
from turnproof.messages import CacheMark, Message, Text, TokenUsage, ToolSchema
from turnproof.provider import SystemInstruction

RULES = "You keep the log of a greenhouse. " * 120
TOOLS = [ToolSchema("water", "Waters a bed. " * 90), ToolSchema("air", "Opens a window. " * 90)]
TTL = 600


@dataclass
class Service:
    """Caches in memory. `refusal`, while set, is raised instead of storing anything."""

    refusal: Exception | None = None
    created: list[tuple[SystemInstruction, list[str], int]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    tokens: list[CancelToken | None] = field(default_factory=list)
    now: float = 1000.0
    during: Callable[[CancelToken], None] = lambda token: None

    def create_cache(
        self,
        system: SystemInstruction,
        tools: Sequence[ToolSchema],
        *,
        ttl_seconds: int,
        cancel_token: CancelToken | None = None,
    ) -> str:
        self.created.append((system, [tool.name for tool in tools], ttl_seconds))
        self.tokens.append(cancel_token)
        if self.refusal is not None:
            raise self.refusal
        self.during(cancel_token or CancelToken())
        return f"cachedContents/{len(self.created)}"

    def delete_cache(self, name: str, *, cancel_token: CancelToken | None = None) -> None:
        self.deleted.append(name)
        self.tokens.append(cancel_token)
        if self.refusal is not None:
            raise self.refusal

    def plugin(self, **options: int) -> ManagedCachePlugin:
        return ManagedCachePlugin(self, clock=lambda: self.now, **{"ttl_seconds": TTL, **options})


def ask(
    plugin: ManagedCachePlugin,
    system: SystemInstruction = RULES,
    tools: Sequence[ToolSchema] | None = TOOLS,
    token: CancelToken | None = None,
) -> Prepared:
    return plugin.prepare([Message.user("hi")], system, tools, cancel_token=token)


def name_in(prepared: Prepared) -> str | None:
    """The one cache name in a request."""
    carriers: list[Text | ToolSchema] = list(prepared.tools)
    if isinstance(prepared.system, Text):
        carriers.append(prepared.system)
    names = [carrier.cache.name for carrier in carriers if carrier.cache is not None]
    assert len(names) <= 1
    return names[0] if names else None


def test_a_prefix_is_stored_once_and_named_on_the_system_text_of_every_request() -> None:
    service = Service()
    plugin = service.plugin()
    requests = [ask(plugin) for _ in range(3)]
    assert service.created == [(RULES, ["air", "water"], TTL)]
    assert {request.system for request in requests} == {Text(RULES, cache=CacheMark(name="cachedContents/1"))}
    assert all(tool.cache is None for request in requests for tool in request.tools)
    assert isinstance(plugin, CachePlugin)


def test_a_prefix_without_system_text_is_named_on_its_last_tool() -> None:
    service = Service()
    prepared = ask(service.plugin(), system=None)
    assert prepared.system is None
    assert [tool.cache for tool in prepared.tools] == [None, CacheMark(name="cachedContents/1")]


def test_messages_go_through_untouched() -> None:
    messages = [Message.user("hi"), Message.model("ho"), Message.user("hi again")]
    prepared = Service().plugin().prepare(messages, RULES, TOOLS)
    assert all(sent is original for sent, original in zip(prepared.messages, messages, strict=True))


def test_a_system_text_given_as_a_part_keeps_what_it_carries() -> None:
    system = Text(RULES, cache=CacheMark("1h"))
    prepared = ask(Service().plugin(), system=system)
    assert prepared.system == Text(RULES, cache=CacheMark(name="cachedContents/1"))
    assert system.cache == CacheMark("1h")


def test_the_same_tools_in_another_order_are_the_same_prefix() -> None:
    service = Service()
    plugin = service.plugin()
    assert ask(plugin, tools=TOOLS).tools == ask(plugin, tools=TOOLS[::-1]).tools
    assert len(service.created) == 1


@pytest.mark.parametrize(("system", "tools"), [(RULES + "!", TOOLS), (RULES, TOOLS[:1]), (None, TOOLS), (RULES, None)])
def test_another_prefix_replaces_the_one_stored_before(system: SystemInstruction, tools: list[ToolSchema]) -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    assert name_in(ask(plugin, system, tools)) == "cachedContents/2"
    assert service.deleted == ["cachedContents/1"]
    assert name_in(ask(plugin, system, tools)) == "cachedContents/2"
    assert len(service.created) == 2


def test_an_old_prefix_that_cannot_be_deleted_is_in_nobodys_way() -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    service.refusal = errors.OverloadedError("later", status=503)
    assert name_in(ask(plugin, RULES + "!")) is None
    assert service.deleted == ["cachedContents/1"]


@pytest.mark.parametrize(("system", "tools"), [("short", []), (None, None), (" " * 9000, [])])
def test_what_is_surely_too_small_is_left_alone(system: SystemInstruction, tools: list[ToolSchema] | None) -> None:
    service = Service()
    prepared = ask(service.plugin(), system, tools)
    assert (prepared.system, prepared.tools) == (system, ())
    assert service.created == []


def test_the_minimum_is_the_callers() -> None:
    service = Service()
    assert name_in(ask(service.plugin(minimum_tokens=1), "short", [])) == "cachedContents/1"
    assert name_in(ask(service.plugin(minimum_tokens=100_000))) is None


def test_a_cache_is_renewed_before_its_life_ends() -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    service.now += TTL - 61
    assert name_in(ask(plugin)) == "cachedContents/1"
    service.now += 2
    assert name_in(ask(plugin)) == "cachedContents/2"
    assert service.deleted == []


def test_a_short_life_is_used_for_most_of_its_length() -> None:
    service = Service()
    plugin = service.plugin(ttl_seconds=10)
    ask(plugin)
    service.now += 8.9
    assert name_in(ask(plugin)) == "cachedContents/1"
    service.now += 0.2
    assert name_in(ask(plugin)) == "cachedContents/2"


@pytest.mark.parametrize(
    "refusal", [errors.InvalidRequestError("too small", status=400), errors.AuthenticationError("no")]
)
def test_a_refused_prefix_goes_out_in_full_and_is_not_offered_again(refusal: errors.ProviderError) -> None:
    service = Service(refusal=refusal)
    plugin = service.plugin()
    for _ in range(3):
        prepared = ask(plugin)
        assert (prepared.system, name_in(prepared)) == (RULES, None)
        service.now += 10 * TTL
    assert len(service.created) == 1


@pytest.mark.parametrize(
    ("failure", "pause"),
    [
        (errors.OverloadedError("busy", status=503), PAUSE_SECONDS),
        (errors.TransportError("reset"), PAUSE_SECONDS),
        (errors.RateLimitError("slow down", status=429, retry_after=7.0), 7.0),
    ],
)
def test_a_service_that_is_down_is_asked_again_after_a_pause(failure: errors.ProviderError, pause: float) -> None:
    service = Service(refusal=failure)
    plugin = service.plugin()
    assert name_in(ask(plugin)) is None
    service.refusal = None
    service.now += pause - 1
    assert name_in(ask(plugin)) is None
    service.now += 2
    assert name_in(ask(plugin)) == "cachedContents/2"


def test_a_fault_that_is_not_the_services_shows() -> None:
    service = Service(refusal=errors.UsageError("not open"))
    with pytest.raises(errors.UsageError):
        ask(service.plugin())


def test_a_lost_cache_is_stored_anew() -> None:
    service = Service()
    plugin = service.plugin()
    assert name_in(ask(plugin)) == "cachedContents/1"
    assert plugin.lost("cachedContents/1")
    assert name_in(ask(plugin)) == "cachedContents/2"
    assert service.deleted == []


def test_a_service_that_keeps_losing_caches_gets_the_prefix_in_full_for_a_while() -> None:
    service = Service()
    plugin = service.plugin()
    for number in (1, 2):
        ask(plugin)
        assert plugin.lost(f"cachedContents/{number}")
    assert name_in(ask(plugin)) is None
    service.now += TTL - 1
    assert name_in(ask(plugin)) is None
    service.now += 1
    assert name_in(ask(plugin)) == "cachedContents/3"


def test_losses_far_apart_are_each_made_good() -> None:
    service = Service()
    plugin = service.plugin()
    for number in (1, 2, 3):
        assert name_in(ask(plugin)) == f"cachedContents/{number}"
        assert plugin.lost(f"cachedContents/{number}")
        service.now += TTL


def test_a_name_lost_to_two_calls_at_once_is_stored_anew_once() -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    assert plugin.lost("cachedContents/1")
    ask(plugin)
    assert plugin.lost("cachedContents/1")
    assert name_in(ask(plugin)) == "cachedContents/2"


def test_a_name_of_somebody_else_is_not_the_plugins_to_lose() -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    assert not plugin.lost("cachedContents/theirs")
    assert name_in(ask(plugin)) == "cachedContents/1"


def test_a_collection_takes_nothing_from_the_managed_prefix() -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    plugin.on_collected([Message.user("a"), Message.model("b")], [])
    assert name_in(ask(plugin)) == "cachedContents/1"


def test_usage_is_told_apart_into_read_and_fresh() -> None:
    usage = Service().plugin().extract_usage(TokenUsage(3520, 8, 3528, cache_read_tokens=3512))
    assert usage == CacheUsage(read=3512, written=0, fresh=8)


# Cancelled


def test_the_service_is_given_the_token_of_the_turn() -> None:
    service, token = Service(), CancelToken()
    plugin = service.plugin()
    ask(plugin, token=token)
    ask(plugin, RULES + "!", token=token)
    assert service.deleted == ["cachedContents/1"]
    assert service.tokens == [token] * 3


def test_a_turn_that_is_cancelled_already_stores_nothing() -> None:
    service, token = Service(), CancelToken()
    token.cancel()
    with pytest.raises(errors.Cancelled):
        ask(service.plugin(), token=token)
    assert service.created == []


def cancelled_inside(token: CancelToken) -> None:
    """What a service does whose request is cut: the token is set, and it says so."""
    token.cancel()
    token.raise_if_cancelled()


def test_a_cancel_while_a_prefix_is_stored_leaves_it_to_the_next_turn() -> None:
    service = Service(during=cancelled_inside)
    plugin = service.plugin()
    with pytest.raises(errors.Cancelled):
        ask(plugin, token=CancelToken())
    service.during = lambda token: None
    assert name_in(ask(plugin)) == "cachedContents/2"
    assert name_in(ask(plugin)) == "cachedContents/2"


def test_a_cancel_while_a_prefix_is_replaced_keeps_the_old_name_from_being_used_for_the_new_one() -> None:
    service = Service()
    plugin = service.plugin()
    ask(plugin)
    service.during = cancelled_inside
    with pytest.raises(errors.Cancelled):
        ask(plugin, RULES + "!", token=CancelToken())
    service.during = lambda token: None
    assert name_in(ask(plugin, RULES + "!")) == "cachedContents/3"


def test_a_turn_that_waits_for_what_another_one_stores_can_be_cancelled_and_keeps_nobody_waiting() -> None:
    storing, stored = threading.Event(), threading.Event()

    def during(token: CancelToken) -> None:
        storing.set()
        assert stored.wait(LIMIT)

    service = Service(during=during)
    plugin = service.plugin()
    first = BackgroundCall(lambda token: name_in(ask(plugin, token=token)))
    assert storing.wait(LIMIT)
    impatient, patient = (BackgroundCall(lambda token: name_in(ask(plugin, token=token))) for _ in range(2))
    wait_until(lambda: all("wait_for" in each.frames for each in (impatient, patient)))
    impatient.token.cancel()
    assert isinstance(impatient.result(), errors.Cancelled)
    assert first.is_alive
    assert patient.is_alive
    stored.set()
    assert first.result() == patient.result() == "cachedContents/1"
    assert len(service.created) == 1
