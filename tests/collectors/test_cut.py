"""Tool results that are cut: the largest, to one size, with a word about what is missing."""

from __future__ import annotations

import re
from typing import Any

import pytest

from turnproof.budget import InstructionBudget
from turnproof.gc import GCResult, cut_results
from turnproof.gc.cut import SMALLEST, cut, cut_text
from turnproof.messages import InlineData, Message, TokenUsage, ToolResult
from turnproof.tokens import part_tokens, text_tokens

from .histories import ask, give, ids

NOTICE = re.compile(r"\n\[… (\d+) of (\d+) characters cut here: the whole result did not fit into .* context …\]\n")


def trimmed(history: list[Message], free: int) -> GCResult:
    budget = InstructionBudget()
    budget.sync(history)
    return cut_results(history, free=free, budget=budget)


def answered(*sizes: int) -> list[Message]:
    """A turn with results of so many bytes."""
    history = [Message.user("look")]
    for n, size in enumerate(sizes):
        history += [ask(f"c{n}"), give(f"c{n}", result=f"{n}" * size)]
    return history


def sizes(result: GCResult) -> list[int]:
    return [part_tokens(one) for message in result.messages for one in message.results]


def test_the_largest_are_cut_to_one_size_and_the_others_left_alone() -> None:
    history = answered(40_000, 2_000, 20_000)
    result = trimmed(history, 9_000)
    large, small, middle = sizes(result)
    assert small == 500
    assert abs(large - middle) <= 2
    assert result.cut_ids == (history[2].message_id, history[6].message_id)
    assert result.messages[4] is history[4]
    assert ids(result.messages) == ids(history)
    assert 9_000 <= result.tokens_freed <= 9_050


def test_one_that_is_large_enough_is_cut_alone() -> None:
    assert sizes(trimmed(answered(40_000, 20_000), 4_000))[1] == 5_000


def test_the_result_says_how_much_is_missing_and_keeps_both_ends() -> None:
    text = "".join(f"line {n}\n" for n in range(2_000))
    shorter = cut_text(text, 300)
    found = NOTICE.search(shorter)
    assert found is not None
    head, tail = shorter[: found.start()], shorter[found.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) == 2 * len(tail) == 800
    assert (int(found[1]), int(found[2])) == (len(text) - len(head) - len(tail), len(text))


def test_what_is_cut_again_still_says_how_much_is_missing_of_the_whole() -> None:
    text = "".join(f"line {n}\n" for n in range(2_000))
    twice = cut_text(cut_text(text, 1_000), 300)
    assert twice == cut_text(text, 300)


def test_what_is_small_enough_is_not_cut() -> None:
    assert cut_text("short", 64) == "short"
    assert not trimmed(answered(4 * SMALLEST), 1_000).changed


def test_not_even_the_largest_demand_cuts_below_what_still_says_something() -> None:
    (size,) = sizes(trimmed(answered(40_000), 10**9))
    assert SMALLEST <= size <= 2 * SMALLEST


def test_a_demand_that_is_met_cuts_nothing() -> None:
    history = answered(40_000)
    result = trimmed(history, 0)
    assert (result.changed, result.cut_ids, result.tokens_freed) == (False, (), 0)
    assert result.messages == tuple(history)


def test_a_history_without_results_is_left_as_it_is() -> None:
    assert not trimmed([Message.user("x" * 40_000)], 5_000).changed


@pytest.mark.parametrize("text", ["’北🌍" * 4_000, "\n" * 40_000, '"' * 40_000, "e\u0301" * 9_000])
def test_any_text_is_cut_at_whole_characters_to_about_the_size(text: str) -> None:
    shorter = cut_text(text, 500)
    assert text_tokens(shorter) <= 500 + text_tokens(NOTICE.search(shorter)[0]) + 1  # type: ignore[index]
    assert text_tokens(shorter) > 490


def test_json_is_cut_as_the_text_that_is_sent_for_it() -> None:
    result = cut(ToolResult("1", "look", {"rows": ["x" * 10_000]}, is_error=True), 200)
    assert isinstance(result.result, str)
    assert result.result.startswith('{"rows":["xxx')
    assert result.result.endswith('xxx"]}')
    assert (result.call_id, result.name, result.is_error) == ("1", "look", True)


FILE = InlineData("image/png", b"\x89PNG")
MANY: list[tuple[str, Any, int, bool]] = [
    ("files that leave room for the text stay", "x" * 40_000, 2_000, True),
    ("files that are too large by themselves are named instead", "x" * 40_000, 1_000, False),
    ("and so are they beside a short text", "short", 1_000, False),
]


@pytest.mark.parametrize(("text", "tokens", "stay"), [case[1:] for case in MANY], ids=[case[0] for case in MANY])
def test_files_beside_a_result_count(text: str, tokens: int, stay: bool) -> None:
    result = cut(ToolResult("1", "look", text, attachments=(FILE,)), tokens)
    assert result.attachments == ((FILE,) if stay else ())
    assert ("left out, for the same reason: image/png" in result.result) is not stay
    assert part_tokens(result) <= tokens + 60


def test_the_budgets_measure_counts() -> None:
    history = answered(40_000)
    budget = InstructionBudget()
    budget.sync(history)
    budget.report(TokenUsage(2 * budget.used, 0, 2 * budget.used))
    result = cut_results(history, free=10_000, budget=budget)
    assert sizes(result)[0] == pytest.approx(5_000, abs=60), "each token of the ruler counts twice"
