"""What a live recording may cost is known before it starts, and held against the budget."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.dialects.base import ReplyPart
from turnproof.errors import UsageError
from turnproof.messages import FinishReason, FunctionCall, Text, ToolSchema
from turnproof.scenarios.model import Fault, Scenario, ScriptRound, ToolScript, Turn
from turnproof.wire.cassettes import Estimate, check_budget, estimate_cost
from turnproof.wire.cassettes.cost import price_of

DIALECT, MODEL = "anthropic-messages", "claude-sonnet-4-5"
LONG = "word" * 1000  # 1,000 tokens by the common ruler


def answer(*parts: Any) -> ScriptRound:
    return ScriptRound(tuple(ReplyPart(part) for part in parts), FinishReason.STOP)


def talk(*answers: str, **more: Any) -> Scenario:
    """One user turn of 1,000 tokens for each answer."""
    turns = tuple(Turn((Text(LONG),), (answer(Text(text)),)) for text in answers)
    return Scenario("talk", "Talk", turns, **more)


def test_tokens_grow_with_the_conversation_and_dollars_follow_the_price_list() -> None:
    found = estimate_cost([talk(LONG, LONG)], DIALECT, MODEL)
    assert (found.requests, found.prompt_tokens, found.output_tokens) == (2, 1000 + 3000, 2000)
    assert found.usd == pytest.approx(4000 * 3 / 1e6 + 2000 * 15 / 1e6)


def test_the_ceiling_takes_every_answer_for_as_long_as_it_may_be() -> None:
    found = estimate_cost([talk("", "", options={"max_tokens": 500})], DIALECT, MODEL)
    assert found.ceiling_usd == pytest.approx((1000 + 2000 + 500) * 3 / 1e6 + 2 * 500 * 15 / 1e6)
    assert estimate_cost([talk("")], DIALECT, MODEL, max_output=100).ceiling_usd == pytest.approx(0.003 + 0.0015)


@pytest.mark.parametrize(
    ("more", "times"),
    [
        ({"modes": ("stream", "batch")}, 2),
        ({"probes": ("fresh", "threads")}, 3),
        ({"modes": ("stream", "batch"), "probes": ("fresh",)}, 4),
    ],
    ids=["modes", "probes", "both"],
)
def test_modes_and_probes_send_everything_again(more: dict[str, Any], times: int) -> None:
    once, often = (estimate_cost([talk(LONG, **kind)], DIALECT, MODEL) for kind in ({}, more))
    assert often.requests == times * once.requests
    assert often.usd == pytest.approx(times * once.usd)


def test_a_faulted_round_is_paid_for_as_often_as_it_is_asked() -> None:
    turn = Turn((Text("hi"),), (answer(Text("yes")),), faults=(Fault("reset", times=2),))
    assert estimate_cost([Scenario("f", "F", (turn,))], DIALECT, MODEL).requests == 3


def test_a_caching_scenario_is_priced_as_written_to_the_cache() -> None:
    plain, caching = (estimate_cost([talk("", cache=kind)], DIALECT, MODEL) for kind in (False, True))
    assert caching.usd == pytest.approx(2 * plain.usd)


def test_tools_results_and_system_text_count() -> None:
    tools = (ToolSchema("t", "d" * 400, {"type": "object"}),)
    call = answer(FunctionCall(id="1", name="t", args={"x": "y" * 400}))
    turn = Turn((Text("hi"),), (call, answer(Text("done"))), results={"t": ToolScript(result="r" * 400)})
    bare = Scenario("b", "B", (turn,))
    full = Scenario("b", "B", (turn,), system="s" * 400, tools=tools)
    without = estimate_cost([bare], DIALECT, MODEL)
    assert without.prompt_tokens > 100 + 100, "the second request holds arguments and result"
    assert estimate_cost([full], DIALECT, MODEL).prompt_tokens >= without.prompt_tokens + 2 * 200


def test_a_conversation_that_was_reset_starts_small_again() -> None:
    turns = (Turn((Text(LONG),), (answer(Text(LONG)),)), Turn((Text("hi"),), (answer(Text("")),), before=("reset",)))
    assert estimate_cost([Scenario("c", "C", turns)], DIALECT, MODEL).prompt_tokens == 1001


def test_a_model_is_known_by_its_dated_id_too() -> None:
    assert price_of(DIALECT, "claude-sonnet-4-5-20250929") == price_of(DIALECT, MODEL)


def test_the_first_surface_of_an_api_has_its_prices_and_another_ones_bills_are_unknown() -> None:
    assert price_of("openai-chat@openai", "gpt-5-2025-08-07") == price_of("openai-chat", "gpt-5")
    with pytest.raises(UsageError, match="no price is known for model 'gpt-5' of openai-chat@github"):
        price_of("openai-chat@github", "gpt-5")


def test_what_runs_at_home_costs_nothing() -> None:
    price = price_of("ollama", "qwen3:8b")
    assert (price.input, price.output) == (0.0, 0.0)


def test_an_unknown_model_has_no_price_and_a_near_one_is_offered() -> None:
    with pytest.raises(UsageError, match=r"no price is known.*'claude-sonet-4-5'.*did you mean 'claude-sonnet-4-5'"):
        estimate_cost([], DIALECT, "claude-sonet-4-5")
    with pytest.raises(UsageError, match="no price is known"):
        price_of("no-such-dialect", "x")


def estimate(ceiling: float) -> Estimate:
    return Estimate(3, 1234, 567, ceiling / 2, ceiling, "2026-11-21")


def test_a_recording_within_the_budget_may_start() -> None:
    check_budget(estimate(1.0), 1.0)


@pytest.mark.parametrize("budget", [0.99, 0.0])
def test_a_recording_that_may_exceed_the_budget_is_refused_with_both_amounts(budget: float) -> None:
    with pytest.raises(UsageError) as failure:
        check_budget(estimate(1.0), budget)
    assert str(failure.value).startswith(f"this may cost $1.00, more than --max-cost {budget:.2f} (3 requests")


@pytest.mark.parametrize("budget", [-1.0, float("nan")])
def test_a_budget_that_is_no_amount_is_refused(budget: float) -> None:
    with pytest.raises(UsageError, match="must be an amount"):
        check_budget(estimate(0.0), budget)


def test_an_estimate_reads_as_a_sentence() -> None:
    assert str(estimate(1.0)) == (
        "3 requests, about 1,234 tokens in and 567 out: about $0.50, at most $1.00 (list prices of 2026-11-21)"
    )
