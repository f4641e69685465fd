"""What a session does when its conversation fills the context: before, in and after a turn, on both paths."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from turnproof.budget import InstructionBudget, is_note
from turnproof.cancel import CancelToken
from turnproof.errors import ContextLimitError, OverloadedError, TransportError
from turnproof.gc import BaseCollector, Collection, GCConfig, GCResult, ProviderSummarizer, SummarizeGC, TruncateGC
from turnproof.messages import (
    FinishReason,
    Message,
    ProviderData,
    ProviderResponse,
    Text,
    Thought,
    TokenUsage,
    ToolResult,
)
from turnproof.session import RetryPolicy, SavedSessionError, Session

from .fakes import PATHS, FakeStateless, Naps, Play, Watching, call, open_session, reply, shape, tool

LARGE = "r" * 40_000
"""A result of 10,000 tokens."""

both = pytest.mark.parametrize("path", PATHS)


def too_long(limit: int | None = None, requested: int | None = None) -> ContextLimitError:
    return ContextLimitError("too long", limit=limit, requested=requested)


def reading(path: str, *steps: Any, result: Any = LARGE, **options: Any) -> tuple[Session, Any]:
    """A session with a tool that reads something large."""
    return open_session(path, *steps, tools=[tool(run=lambda args, token: result)], **options)


def results_of(messages: Sequence[Message]) -> list[ToolResult]:
    return [result for message in messages for result in message.results]


def in_step(session: Session, provider: Any) -> bool:
    """Whether what was sent last, and the answer to it, is what is held."""
    sent = [(message.role, message.parts) for message in provider.requests[-1].messages]
    return shape(session)[: len(sent)] == sent and len(shape(session)) == len(sent) + 1


# A prompt that is refused


@both
def test_results_that_do_not_fit_are_cut_and_what_is_held_is_what_was_sent(path: str) -> None:
    results: list[GCResult] = []
    session, provider = reading(
        path,
        reply(call()),
        too_long(8_000, 10_100),
        reply("done"),
        observers=[Watching(on_collected=results.append)],
    )
    assert session.send("read it").text == "done"
    (result,) = results_of(session.history.messages)
    assert "characters cut here" in result.result
    assert 24_000 <= len(result.result) <= 26_000, "0.8 of the limit, and nothing beside it"
    assert in_step(session, provider)
    assert [len(results_of(request.messages)) for request in provider.requests] == [0, 1, 1]
    assert (results[0].reason, results[0].removed_ids, len(results[0].cut_ids)) == ("overflow", (), 1)
    assert session.history.messages[2].message_id == results[0].cut_ids[0]


@both
def test_collecting_comes_before_cutting(path: str) -> None:
    results: list[GCResult] = []
    session, provider = reading(
        path,
        reply("one"),
        reply(call()),
        too_long(8_000, 10_100),
        too_long(8_000, 10_050),
        reply("done"),
        gc=TruncateGC(),
        observers=[Watching(on_collected=results.append)],
    )
    session.send("first")
    session.send("read it")
    assert [bool(result.cut_ids) for result in results] == [False, True]
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "model"]
    assert in_step(session, provider)


@both
def test_what_is_cut_and_still_refused_fails_and_leaves_the_uncut_originals(path: str) -> None:
    session, provider = reading(path, reply(call()), reply("read"), reply(call()), *[too_long(8_000)] * 3)
    session.send("read it")
    before, used = session.history.messages, session.context_usage.used
    with pytest.raises(ContextLimitError):
        session.send("read it again")
    assert len(provider.requests) == 5, "cut once, and then it is over"
    assert all(a is b for a, b in zip(session.history.messages, before, strict=True))
    assert results_of(session.history.messages)[0].result == LARGE
    assert session.context_usage.used == used
    if path == "legacy":
        assert results_of(provider.get_history())[0].result == LARGE


@both
def test_without_anything_to_cut_a_refusal_is_final(path: str) -> None:
    session, provider = reading(path, reply(call()), too_long(8_000), result="short")
    with pytest.raises(ContextLimitError):
        session.send("x" * 40_000)
    assert len(provider.requests) == 2
    assert shape(session) == []


@both
def test_a_cancel_after_the_cut_leaves_a_history_that_goes_on(path: str) -> None:
    def cancelled(play: Play) -> ProviderResponse:
        play.token.cancel()
        return reply("half", finish="cancelled")

    session, provider = reading(path, reply(call()), too_long(8_000), cancelled, reply("well"))
    assert session.send("read it").outcome == "cancelled"
    assert session.send("go on").text == "well"
    assert in_step(session, provider)


LIMITS: list[tuple[str, ContextLimitError, int | None, int | None, int]] = [
    ("the refusal's", too_long(4_000, 10_100), 6_000, 7_000, 3_200),
    ("else the provider's", too_long(), 6_000, 7_000, 4_800),
    ("else the configured one", too_long(), None, 7_000, 5_600),
    ("else what was refused", too_long(), None, None, 8_000),
    ("the room for the answer is not cut", too_long(8_000, 12_050), 6_000, None, 4_400),
]


@pytest.mark.parametrize(
    ("refused", "providers", "configured", "fits"), [c[1:] for c in LIMITS], ids=[c[0] for c in LIMITS]
)
def test_which_limit_the_cut_keeps_to(
    refused: ContextLimitError, providers: int | None, configured: int | None, fits: int
) -> None:
    config = GCConfig(context_limit=configured, auto=False)
    session, provider = reading("stateless", reply(call()), refused, reply("done"), gc_config=config)
    if providers is not None:
        provider.get_context_limit = lambda: providers
    session.send("read it")
    budget = InstructionBudget()
    budget.sync(provider.requests[-1].messages)
    assert budget.used == pytest.approx(fits, abs=250)


def test_a_limit_that_a_refusal_named_is_kept_to_until_another_provider_comes() -> None:
    session, _ = reading("stateless", reply(call()), too_long(8_000), reply("done"))
    assert session.context_usage.limit is None
    session.send("read it")
    assert session.context_usage.limit == 8_000
    session.swap(FakeStateless())
    assert session.context_usage.limit is None


def test_a_provider_that_cannot_say_its_limit_does_no_harm(caplog: pytest.LogCaptureFixture) -> None:
    def get_context_limit() -> int:
        raise RuntimeError("not connected")

    session, provider = open_session("stateless", reply("a"))
    provider.get_context_limit = get_context_limit
    assert session.send("Hi").text == "a"
    assert session.context_usage.limit is None
    assert caplog.text.count("get_context_limit failed") == 1


@both
def test_the_running_turn_is_not_collected_however_often_the_user_spoke_in_it(path: str) -> None:
    def interjected(args: dict[str, Any], token: CancelToken) -> str:
        session.interject("and hurry")
        return "seen"

    session, provider = open_session(
        path,
        reply("one"),
        reply(call()),
        too_long(),
        reply("done"),
        tools=[tool(run=interjected)],
        gc=TruncateGC(),
        gc_config=GCConfig(keep_turns=1),
    )
    session.send("first")
    session.send("look")
    assert [message.role for message in session.history.messages] == ["user", "model", "tool", "user", "model"]
    assert session.history.messages[0].text == "look"
    assert in_step(session, provider)


# Before and after a turn

FULL_AT_1000: dict[str, Any] = {"gc": TruncateGC(), "gc_config": GCConfig(context_limit=1_000, keep_turns=1)}


@both
def test_what_is_about_to_be_said_counts_before_it_is_sent(path: str) -> None:
    session, provider = open_session(
        path,
        reply("a", prompt=402),
        reply("b", prompt=410),
        reply("c"),
        **FULL_AT_1000,
    )
    session.send("x" * 1_600)
    session.send("z")
    session.send("y" * 2_000)
    assert [message.text[0] for message in provider.requests[2].messages] == ["z", "b", "y"]


@both
def test_a_turn_that_fails_brings_back_what_was_collected_before_it(path: str) -> None:
    session, provider = open_session(
        path,
        reply("a", prompt=252),
        reply("b", prompt=510),
        OverloadedError("busy"),
        retry=RetryPolicy(attempts=1),
        **FULL_AT_1000,
    )
    session.send("x" * 1_000)
    session.send("y" * 1_000)
    before, used = session.history.messages, session.context_usage.used
    with pytest.raises(OverloadedError):
        session.send("z" * 2_400)
    assert all(a is b for a, b in zip(session.history.messages, before, strict=True))
    assert session.context_usage.used == used
    if path == "legacy":
        assert len(provider.get_history()) == len(before)


@both
@pytest.mark.parametrize("streamed", [False, True])
def test_a_turn_that_fills_the_context_is_collected_after_it(path: str, streamed: bool) -> None:
    results: list[GCResult] = []
    session, provider = open_session(
        path,
        reply("a", prompt=100),
        reply("b", prompt=850),
        reply("c"),
        **FULL_AT_1000,
        observers=[Watching(on_collected=results.append)],
    )
    on_chunk = (lambda text: None) if streamed else None
    session.send("one", on_chunk=on_chunk)
    assert results == []
    session.send("two", on_chunk=on_chunk)
    assert [result.reason for result in results] == ["threshold"]
    assert [message.text for message in session.history.messages] == ["two", "b"]
    if path == "legacy":
        assert [message.text for message in provider.get_history()] == ["two", "b"], "by a reset"
    session.send("three")
    assert [message.text for message in provider.requests[-1].messages] == ["two", "b", "three"]


def test_turn_limit_and_continuous_mode_collect_after_the_turn() -> None:
    session, _ = open_session(
        "stateless",
        *[reply(str(n)) for n in range(4)],
        gc=TruncateGC(),
        gc_config=GCConfig(max_turns=3, keep_turns=2),
    )
    for n in range(4):
        session.send(f"say {n}")
    assert [message.text for message in session.history.messages] == ["say 2", "2", "say 3", "3"]
    session, _ = open_session(
        "stateless",
        *[reply(str(n)) for n in range(4)],
        gc=TruncateGC(),
        gc_config=GCConfig(continuous=True, keep_turns=1),
    )
    for n in range(4):
        session.send(f"say {n}")
        assert len(session.history) == 2


def test_nothing_is_collected_by_itself_where_that_is_off() -> None:
    session, _ = open_session(
        "stateless",
        *[reply(str(n), prompt=990) for n in range(3)],
        gc=TruncateGC(),
        gc_config=GCConfig(context_limit=1_000, keep_turns=1, auto=False),
    )
    for n in range(3):
        session.send(f"say {n}")
    assert len(session.history) == 6
    assert session.collect().after == 2


# Collectors that go wrong


class Broken(BaseCollector):
    """A plugin with a bug."""

    def work(self, collection: Collection) -> GCResult:
        raise ZeroDivisionError("bug")


class Careless(BaseCollector):
    """A plugin that leaves half a pair."""

    def work(self, collection: Collection) -> GCResult:
        left = tuple(message for message in collection.history if not message.results)
        removed_ids = tuple(message.message_id for message in collection.history if message.results)
        before = len(collection.history)
        return GCResult(messages=left, removed_ids=removed_ids, tokens_freed=1, before=before, after=len(left))


@both
def test_a_collector_that_raises_stops_nothing(path: str, caplog: pytest.LogCaptureFixture) -> None:
    session, _ = open_session(
        path, reply("a", prompt=900), reply("b"), gc=Broken(), gc_config=GCConfig(context_limit=1_000)
    )
    with caplog.at_level(logging.ERROR):
        assert session.send("one").text == "a"
        assert session.send("two").text == "b"
    assert "Broken failed" in caplog.text
    result = session.collect()
    assert (result.success, result.error, result.changed) == (False, "ZeroDivisionError: bug", False)
    assert len(session.history) == 4


def test_what_a_careless_collector_leaves_is_repaired_before_it_is_sent() -> None:
    session, provider = reading("stateless", reply(call()), reply("a"), reply("b"), gc=Careless())
    session.send("one")
    session.collect()
    session.send("two")
    (result,) = results_of(provider.requests[-1].messages)
    assert (result.call_id, result.is_error) == ("c1", True)


@both
def test_a_refused_prompt_is_cut_where_its_summary_fails(path: str, caplog: pytest.LogCaptureFixture) -> None:
    def failing(messages: Sequence[Message], token: CancelToken) -> str:
        raise OverloadedError("busy")

    session, provider = reading(
        path,
        reply("one"),
        reply(call()),
        too_long(8_000, 10_100),
        reply("done"),
        gc=SummarizeGC(failing),
        gc_config=GCConfig(keep_turns=1),
    )
    session.send("first")
    assert session.send("read it").text == "done"
    assert session.history.messages[0].text == "first"
    assert in_step(session, provider)
    assert "OverloadedError: busy" in caplog.text


def test_a_summary_is_asked_for_beside_the_conversation() -> None:
    session, provider = open_session(
        "legacy",
        reply("a", prompt=502),
        reply("b", prompt=510),
        gc=SummarizeGC(ProviderSummarizer(writer := FakeStateless(reply("They greeted.")))),
        gc_config=GCConfig(keep_turns=1),
    )
    session.send("one " * 500)
    session.send("two")
    requests = len(provider.requests)
    assert session.collect().success
    assert len(provider.requests) == requests
    assert [message.text for message in provider.get_history()][1:] == ["two", "b"]
    assert is_note(session.history.messages[0], "summary")
    assert session.turn_boundaries == [1]
    assert len(writer.requests) == 1


# Figures


@both
def test_the_context_is_as_full_as_the_provider_said(path: str) -> None:
    session, _ = open_session(path, reply("a", prompt=300, output=20), gc_config=GCConfig(context_limit=1_000))
    assert session.context_usage.used == 0
    session.send("one")
    usage = session.context_usage
    assert (usage.used, usage.limit, usage.percent, usage.remaining, usage.turns) == (320, 1_000, 32.0, 680, 1)


def test_a_turn_of_several_calls_counts_the_last_alone() -> None:
    session, _ = reading(
        "stateless", reply(call(), prompt=100), reply(call(id="c2"), prompt=200), reply("a", prompt=300)
    )
    session.send("one")
    assert session.context_usage.used == 302


def test_results_that_no_call_has_counted_yet_come_on_top() -> None:
    seen: list[int] = []

    def second(play: Play) -> ProviderResponse:
        seen.append(session.context_usage.used)
        return reply("a")

    session, _ = reading("stateless", reply(call(), prompt=500), second)
    session.send("one")
    assert 10_000 <= seen[0] <= 16_000, "a hidden preamble of 500 tokens is no reason to count every result twenty-fold"


@both
def test_what_was_counted_of_an_answer_that_is_not_kept_is_no_part_of_the_context(path: str) -> None:
    def cut(play: Play) -> ProviderResponse:
        usage = TokenUsage(40, 900, 940)
        return ProviderResponse((Text("So"), call()), usage, finish_reason=FinishReason.CANCELLED)

    session, _ = open_session(path, cut)
    assert session.send("one").outcome == "cancelled"
    assert 40 <= session.context_usage.used < 60


@both
def test_a_prompt_that_a_cut_stream_counts_in_part_is_no_smaller_for_that(path: str) -> None:
    def cut(play: Play) -> ProviderResponse:
        return ProviderResponse((Text("So"),), TokenUsage(60, 1, 61), finish_reason=FinishReason.CANCELLED)

    session, _ = open_session(path, reply("a", prompt=100), cut)
    session.send("one")
    session.send("two")
    assert 102 < session.context_usage.used < 120


@both
def test_the_figures_of_a_turn_are_its_last_though_the_call_behind_them_was_cut_without_any(path: str) -> None:
    def cut(play: Play) -> ProviderResponse:
        return ProviderResponse((), TokenUsage(), finish_reason=FinishReason.CANCELLED)

    session, _ = open_session(path, reply("a", prompt=9), reply(call(), prompt=100), cut, tools=[tool()])
    session.send("one")
    result = session.send("two")
    assert (result.outcome, result.usage, session.usage) == ("cancelled", TokenUsage(100, 2, 102), result.usage)


@both
def test_results_count_though_the_turn_is_cancelled_while_it_waits_to_try_again(path: str) -> None:
    token = CancelToken()

    def shown_and_lost(play: Play) -> ProviderResponse:
        play.stream("Hel")
        raise TransportError("cut")

    session, _ = reading(path, reply(call(), prompt=100), shown_and_lost, sleep=Naps(during=token.cancel))
    result = session.send("one", cancel_token=token, on_chunk=lambda text: None)
    assert (result.outcome, result.text) == ("cancelled", "Hel")
    assert session.context_usage.used > 5_000


def test_thinking_that_was_never_sent_makes_nothing_else_small() -> None:
    """Signed thoughts are long, and a provider may leave them out of the next prompt and out of its count."""
    sealed = Thought("hm", provider_data=ProviderData("fake", "m", {"signature": "s" * 8_000}))
    thinking = ProviderResponse((sealed, Text("Yes.")), TokenUsage(110, 5, 115), finish_reason=FinishReason.STOP)
    session, _ = open_session("stateless", lambda play: thinking, system="be brief " * 40)
    session.send("one")
    assert session.context_usage.used == 115
    session.clear()
    assert 40 < session.context_usage.used <= 115


@both
def test_after_every_change_the_context_is_neither_empty_nor_fuller_than_before(path: str) -> None:
    session, _ = open_session(path, *[reply(str(n), prompt=100 * (n + 1)) for n in range(4)])
    for n in range(4):
        session.send(f"say {n}")
    figures = [session.context_usage.used]
    for change in (
        lambda: session.collect(keep_turns=3),
        lambda: session.revert_to_turn(1),
        lambda: session.collect(1),
    ):
        change()
        figures.append(session.context_usage.used)
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == 4
    assert figures[-1] > 0
    session.clear()
    assert session.context_usage.used == 0


def test_a_loaded_session_goes_on_with_equal_figures() -> None:
    session, _ = open_session("stateless", reply("a", prompt=3_000), system="be brief")
    session.send("one")
    session.set_system("be very brief")
    loaded, _ = open_session("stateless")
    loaded.restore(session.save())
    assert loaded.context_usage.used == session.context_usage.used > 0


def test_what_was_saved_without_a_budget_is_as_full_as_its_last_report_says() -> None:
    session, _ = open_session("stateless", reply("a", prompt=3_000))
    session.send("one")
    loaded, _ = open_session("stateless")
    loaded.restore(msgspec.structs.replace(session.state(), budget=None))
    assert loaded.context_usage.used == 3_002


def test_a_damaged_budget_is_refused_with_its_place_and_changes_nothing() -> None:
    session, _ = open_session("stateless", reply("a"), reply("b"))
    session.send("one")
    saved = session.save().replace('"reported":', '"reportet":')
    session.send("two")
    with pytest.raises(SavedSessionError, match=r"\$\.budget: Object contains unknown field `reportet`"):
        session.restore(saved)
    assert len(session.history) == 4


def test_the_budget_of_a_session_holds_its_system_text_tools_and_messages() -> None:
    session, _ = reading("stateless", reply("a"), system=Text("be brief"))
    session.send("one")
    assert [entry.source for entry in session.budget.entries()] == ["system", "plugin", "conversation", "conversation"]


@both
def test_a_tool_may_ask_how_full_the_context_is(path: str) -> None:
    seen: list[int] = []

    def run(args: dict[str, Any], token: CancelToken) -> str:
        seen.append(session.context_usage.used)
        return "seen"

    session, _ = open_session(path, reply(call(), call(id="c2"), prompt=100), reply("a"), tools=[tool(run=run)])
    session.send("one")
    assert seen == [102, 102]
