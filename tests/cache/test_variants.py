"""Who holds the plugin makes no difference on the wire: the session that annotates, or the provider, inside its calls.

Over real HTTP against the emulator: what is claimed is about bytes, and about the figures of a real prefix cache.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from session.fakes import Watching
from session.traced import Spans

from turnproof.cache import CacheUsage
from turnproof.certify.fixtures import ScriptedEndpoint, endpoints
from turnproof.dialects import dialect
from turnproof.messages import TokenUsage
from turnproof.provider import Binding, Endpoint
from turnproof.scenarios import Scenario, load
from turnproof.session import Session, TokenLedger, Tool, TurnResult
from turnproof.tokens import message_tokens
from turnproof_adapters.anthropic.binding import BINDING as ANTHROPIC
from turnproof_adapters.google_genai.binding import BINDING as GOOGLE

Holder: TypeAlias = Literal["session", "provider", "legacy provider"]

SCRIPT = """
title: Twelve turns with tools
cache: true
system: {repeat: "The greenhouse has twelve beds; each is watered when its sensor is below twenty. ", times: 100}
tools:
  - {name: read_sensor, description: {repeat: "Read the moisture of one bed. ", times: 100}, takes: {bed: string}}
  - {name: water_bed, description: {repeat: "Water one bed. ", times: 100}, takes: {bed: string}}
results: {read_sensor: 12 %, water_bed: done}
turns:
  - user: {repeat: "What has been agreed stays agreed. ", times: 60}
    model: That is noted.
  - user: {repeat: "Bed {n} was quiet today. ", times: 40}
    times: 2
    model: {repeat: "That is noted. ", times: 10}
  - user: Water bed 3 if it is dry.
    model:
      - [Let me look., {call: read_sensor, args: {bed: "3"}}]
      - [{call: water_bed, args: {bed: "3"}}]
      - [Bed 3 has its water.]
  - user: {repeat: "The lamps of bed {n} are on. ", times: 40}
    times: 4
    model: Good.
  - user: And beds 4 and 5?
    model:
      - [{call: read_sensor, args: {bed: "4"}}, {call: read_sensor, args: {bed: "5"}}]
      - [Both are dry.]
  - user: "Last entry {n}."
    times: 3
    model: Noted.
"""


@dataclass
class Conversation:
    """A session through the script, and what became of it. `before` does something to the session before a turn."""

    served: ScriptedEndpoint
    binding: Binding
    holder: Holder
    streamed: bool
    before: dict[int, Callable[[Conversation], None]] = field(default_factory=dict)
    results: list[TurnResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger, self.spans = TokenLedger(), Spans()
        self.updates: list[TokenUsage] = []
        self.session = Session(**self.options())

    def options(self) -> dict[str, Any]:
        """A fresh provider, and a session's options with it."""
        opener = self.binding.opener("legacy" if self.holder == "legacy provider" else "stateless")
        assert opener is not None
        provider = opener(Endpoint(self.served.base_url, self.served.api_key, self.served.model))
        assert self.binding.cache_plugin is not None
        plugin, scenario = self.binding.cache_plugin(provider), self.served.scenario
        if self.holder == "provider":
            provider.set_cache_plugin(plugin)
        return {
            "provider": provider,
            "path": "legacy" if self.holder == "legacy provider" else "stateless",
            "cache_plugin": None if self.holder == "provider" else plugin,
            "system": scenario.system,
            "tools": [Tool(schema, lambda args, token: "12 %") for schema in scenario.tools],
            "observers": [self.ledger, Watching(on_usage=self.updates.append)],
            "tracing": self.spans.tracing(),
        }

    def run(self) -> Conversation:
        for number, turn in enumerate(self.served.scenario.turns):
            if number in self.before:
                self.before[number](self)
            self.served.arm(number)
            on_chunk = (lambda _: None) if self.streamed else None
            self.results.append(self.session.send(turn.user, on_chunk=on_chunk))
        return self

    def save_and_load(self) -> None:
        options = self.options()
        self.session = Session.load(self.session.save(), options.pop("provider"), **options)

    @property
    def bodies(self) -> list[bytes]:
        """The requests for answers, as they arrived."""
        return [each.request.body for each in self.served.exchanges if each.operation == "generate"]

    @property
    def usages(self) -> list[TokenUsage]:
        return [result.usage for result in self.results]

    @property
    def told_by_the_service(self) -> list[CacheUsage]:
        """What it counted for each answer, read from the bytes on the wire."""
        wire = dialect(self.binding.dialect)
        # The client may have its answer before the server has noted that it wrote it.
        answers = (
            wire.read_response(each.status, each.headers, bytes(each.body)).usage
            for each in self.served.exchanges
            if each.operation == "generate" and each.done.wait(60)
        )
        return [CacheUsage.of(usage) for usage in answers if usage is not None]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Scenario:
    file = tmp_path_factory.mktemp("scenarios") / "twelve.yaml"
    file.write_text(SCRIPT)
    return load(file)


def collect(talk: Conversation) -> None:
    assert talk.session.collect(keep_turns=3).removed_ids


def revert(talk: Conversation) -> None:
    talk.session.revert_to_turn(2)


def rename(talk: Conversation) -> None:
    talk.session.set_system(f"{talk.session.system} And you are called Flora.")


def swap_to_legacy(talk: Conversation) -> None:
    assert ANTHROPIC.open_legacy is not None
    provider = ANTHROPIC.open_legacy(Endpoint(talk.served.base_url, talk.served.api_key, talk.served.model))
    talk.session.swap(provider, path="legacy")


EVENTS: dict[str, dict[int, Callable[[Conversation], None]]] = {
    "nothing": {},
    "collected": {6: collect},
    "reverted": {5: revert},
    "loaded": {6: Conversation.save_and_load},
    "all": {4: revert, 6: collect, 7: Conversation.save_and_load, 9: collect, 10: Conversation.save_and_load},
    "renamed": {6: rename},
    "swapped": {6: swap_to_legacy},
}
BEFORE = pytest.mark.parametrize("before", ["nothing", "all"])

Talk: TypeAlias = Callable[..., Conversation]


@pytest.fixture(scope="module")
def talk(script: Scenario) -> Iterator[Talk]:
    """Conversations with one server. The same one is had only once."""
    with endpoints() as served:

        @cache
        def had(
            dialect: str, holder: Holder = "session", before: str = "nothing", streamed: bool = False
        ) -> Conversation:
            binding = ANTHROPIC if dialect == "anthropic" else GOOGLE
            endpoint = served(script, binding.dialect, binding.model)
            return Conversation(endpoint, binding, holder, streamed, EVENTS[before]).run()

        yield had


ADAPTERS = pytest.mark.parametrize("adapter", ["anthropic", "google_genai"])
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["batch", "stream"])
HOLDERS = pytest.mark.parametrize("holder", ["session", "provider", "legacy provider"])


@ADAPTERS
@BEFORE
def test_the_bytes_are_the_same_whoever_holds_the_plugin(talk: Talk, adapter: str, before: str) -> None:
    ours, theirs = talk(adapter, "session", before), talk(adapter, "provider", before)
    assert len(ours.bodies) == 15
    assert ours.bodies == theirs.bodies
    assert ours.usages == theirs.usages
    mark = b'"cache_control"' if adapter == "anthropic" else b'"cachedContent"'
    assert all(mark in body for body in ours.bodies)
    assert not any(exchange.findings for exchange in ours.served.exchanges)


@ADAPTERS
def test_streamed_bytes_are_the_same_too(talk: Talk, adapter: str) -> None:
    ours, theirs = talk(adapter, "session", "all", True), talk(adapter, "provider", "all", True)
    assert ours.bodies == theirs.bodies


@BEFORE
def test_the_legacy_path_of_anthropic_sends_the_same_marks(talk: Talk, before: str) -> None:
    """The SDK writes the fields in an order of its own: compared as JSON."""
    new, old = talk("anthropic", "session", before), talk("anthropic", "legacy provider", before)
    assert list(map(json.loads, old.bodies)) == list(map(json.loads, new.bodies))
    assert old.usages == new.usages


@BEFORE
def test_the_legacy_path_of_google_names_the_same_cache(talk: Talk, before: str) -> None:
    new, old = talk("google_genai", "session", before), talk("google_genai", "legacy provider", before)
    for ours, theirs in zip(map(json.loads, new.bodies), map(json.loads, old.bodies), strict=True):
        assert theirs["cachedContent"] == ours["cachedContent"]
        assert not theirs.keys() & {"systemInstruction", "tools"}
        assert [content["role"] for content in theirs["contents"]] == [each["role"] for each in ours["contents"]]
    assert old.usages == new.usages


@HOLDERS
@STREAMED
def test_from_the_second_turn_on_the_history_is_read_from_the_cache_and_more_of_it_each_time(
    talk: Talk, holder: Holder, streamed: bool
) -> None:
    usages = talk("anthropic", holder, streamed=streamed).usages
    assert usages[0].cache_creation_tokens > 0
    assert usages[1].cache_read_tokens > 0
    assert all(after.cache_read_tokens > before.cache_read_tokens for before, after in pairwise(usages))
    assert all(usage.prompt_tokens - usage.cache_read_tokens < 500 for usage in usages[1:])


@HOLDERS
def test_a_managed_prefix_is_read_in_every_turn_and_stored_once(talk: Talk, holder: Holder) -> None:
    had = talk("google_genai", holder)
    assert len({usage.cache_read_tokens for usage in had.usages}) == 1
    assert had.usages[0].cache_read_tokens > 2000
    assert [each.operation for each in had.served.exchanges].count("cache") == 1


# The figures on their way from the wire to whoever keeps accounts


@ADAPTERS
@HOLDERS
@STREAMED
def test_what_the_cache_did_reaches_every_account_as_the_service_told_it(
    talk: Talk, adapter: str, holder: Holder, streamed: bool
) -> None:
    had = talk(adapter, holder, streamed=streamed)
    usages = had.told_by_the_service
    assert len(usages) == 15
    assert any(each.read for each in usages)
    assert [CacheUsage.of(row.usage) for row in had.ledger.rows] == usages
    assert had.session.prefix.totals == sum(usages, CacheUsage())
    assert CacheUsage.of(had.session.usage) == usages[-1]
    assert all(row.usage.total_tokens == row.usage.prompt_tokens + row.usage.output_tokens for row in had.ledger.rows)
    assert set(usages) <= {CacheUsage.of(usage) for usage in had.updates}
    assert [_of_span(span) for span in had.spans.finished if span.name.startswith("chat")] == usages


def _of_span(span: ReadableSpan) -> CacheUsage:
    figures: Any = span.attributes
    return CacheUsage.of(
        TokenUsage(
            figures["gen_ai.usage.input_tokens"],
            cache_read_tokens=figures.get("gen_ai.usage.cache_read.input_tokens", 0),
            cache_creation_tokens=figures.get("gen_ai.usage.cache_creation.input_tokens", 0),
        )
    )


# What the session says of its prefix, held against the provider's figures


@HOLDERS
def test_what_a_collection_cost_is_measured_alike_whoever_holds_the_plugin(talk: Talk, holder: Holder) -> None:
    had = talk("anthropic", holder, "collected")
    (loss,) = had.session.prefix.losses
    assert (loss.turn, loss.reason, loss.kept) == (6, "gc", 0)
    paid, new = (had.usages[turn].prompt_tokens - had.usages[turn].cache_read_tokens for turn in (6, 7))
    assert loss.tokens == pytest.approx(paid - new, rel=0.1)
    assert loss.tokens > 500


def test_a_collection_costs_nothing_of_a_managed_prefix(talk: Talk) -> None:
    assert talk("google_genai", "session", "collected").session.prefix.losses == ()


def test_going_back_is_no_loss_where_the_earlier_prefix_is_found_again(talk: Talk) -> None:
    had = talk("anthropic", "session", "reverted")
    assert had.session.prefix.losses == ()
    assert had.usages[5].cache_read_tokens == had.usages[2].cache_read_tokens + had.usages[2].cache_creation_tokens


def test_a_loaded_session_reads_what_the_saved_one_wrote(talk: Talk) -> None:
    had = talk("anthropic", "session", "loaded")
    before, after = had.usages[5:7]
    assert after.cache_read_tokens == before.cache_read_tokens + before.cache_creation_tokens
    assert had.session.prefix.losses == ()


def test_a_swap_to_the_other_path_goes_on_with_the_same_cache(talk: Talk) -> None:
    """The plugin goes along: the provider of the legacy path is given it."""
    had = talk("anthropic", "session", "swapped")
    assert had.session.path == "legacy"
    assert all(after.cache_read_tokens > before.cache_read_tokens for before, after in pairwise(had.usages))
    assert had.session.prefix.losses == ()


def test_another_system_text_costs_the_history_once_and_spares_the_tools(talk: Talk) -> None:
    had = talk("anthropic", "session", "renamed")
    (loss,) = had.session.prefix.losses
    assert (loss.turn, loss.reason) == (6, "system")
    first = message_tokens(had.session.history.messages[0])
    history = first + had.usages[5].prompt_tokens - had.usages[0].prompt_tokens
    assert 1024 < had.usages[6].cache_read_tokens < 1500
    assert loss.tokens == pytest.approx(history, rel=0.05)
