"""`BudgetGC`: what is worth least goes first, no more than it takes, and some of it never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from turnproof.budget import InstructionBudget, Policy, Source
from turnproof.gc import BudgetGC, GCConfig, GCResult, Reason, SummarizeGC
from turnproof.messages import Message
from turnproof.tokens import message_tokens

from .histories import PICTURE, ask, give, ids, same_objects, talk, work


def collected(
    history: Sequence[Message],
    *,
    free: int | None = None,
    full: float = 0.85,
    reason: Reason = "threshold",
    keep: int = 1,
    marks: Mapping[int, tuple[Source, Policy]] | None = None,
    pinned: Sequence[int] = (),
) -> GCResult:
    """Collect a history that fills its context so far, in order to free so many tokens (None: all that can go)."""
    budget = InstructionBudget()
    for index, (source, policy) in (marks or {}).items():
        budget.mark(history[index].message_id, source, policy)
    budget.sync(history)
    budget.limit = int(budget.used / full)
    target = max(1e-6, (budget.used - free) / budget.limit) if free is not None else 1e-6
    config = GCConfig(
        keep_turns=keep, threshold=1.0, target=target, pinned=frozenset(history[n].message_id for n in pinned)
    )
    return BudgetGC().collect(history, config=config, reason=reason, budget=budget)


def left(history: Sequence[Message], result: GCResult) -> list[int]:
    where = {message: n for n, message in enumerate(history)}
    return [where[message] for message in result.messages]


ENRICHED = (Source.ENRICHMENT, Policy.EPHEMERAL)
# 0-3, 4-7, 8-11: question, call, result, answer
HISTORY = work(3)


def test_the_oldest_tool_rounds_go_first_with_call_and_result() -> None:
    assert left(HISTORY, collected(HISTORY, free=1)) == [0, 3, 4, 5, 6, 7, 8, 9, 10, 11]


def test_no_more_goes_than_it_takes() -> None:
    rounds = message_tokens(HISTORY[1]) + message_tokens(HISTORY[2])
    assert left(HISTORY, collected(HISTORY, free=rounds))[:3] == [0, 3, 4]
    assert left(HISTORY, collected(HISTORY, free=rounds))[3] == 5
    assert left(HISTORY, collected(HISTORY, free=rounds + 1)) == [0, 3, 4, 7, 8, 9, 10, 11]


def test_answers_to_work_stay_with_their_questions_unless_the_context_is_under_pressure() -> None:
    assert left(HISTORY, collected(HISTORY)) == [0, 3, 4, 7, 8, 9, 10, 11]
    assert left(HISTORY, collected(HISTORY, full=0.95)) == [0, 8, 9, 10, 11]


@pytest.mark.parametrize("reason", ["overflow", "turn-limit"])
def test_a_refused_prompt_and_too_many_turns_are_pressure(reason: Reason) -> None:
    assert left(HISTORY, collected(HISTORY, full=0.2, reason=reason)) == [0, 8, 9, 10, 11]


def test_by_hand_all_goes_that_is_not_worth_preserving() -> None:
    assert left(HISTORY, collected(HISTORY, full=0.2, reason="manual")) == [0, 3, 4, 7, 8, 9, 10, 11]


def test_simple_turns_go_whole_the_oldest_first() -> None:
    history = [*work(1), *talk(3)]
    assert left(history, collected(history, free=125)) == [0, 3, 6, 7, 8, 9]


def test_the_first_thing_said_is_locked() -> None:
    history = talk(4)
    assert left(history, collected(history, full=1.5, reason="overflow")) == [0, 6, 7]


def test_enrichment_goes_before_anything_else_and_begins_no_turn() -> None:
    history = [*work(1), Message.user("news of the day"), *talk(2)]
    result = collected(history, free=1, marks={4: ENRICHED})
    assert left(history, result) == [0, 1, 2, 3, 5, 6, 7, 8]


def test_enrichment_in_a_turn_leaves_the_turn_behind() -> None:
    history = [Message.user("one"), Message.user("news"), Message.model("1"), *talk(1)]
    assert left(history, collected(history, free=1, marks={1: ENRICHED})) == [0, 2, 3, 4]


def test_enrichment_that_somebody_locked_stays() -> None:
    history = [*talk(1), Message.user("news"), *talk(2)]
    result = collected(history, full=1.5, marks={2: (Source.ENRICHMENT, Policy.LOCKED)})
    assert left(history, result) == [0, 2, 5, 6]


def test_recent_turns_stay_as_they_are() -> None:
    assert left(HISTORY, collected(HISTORY, full=1.5, reason="overflow", keep=2)) == [0, *range(4, 12)]
    assert not collected(HISTORY, full=1.5, reason="overflow", keep=3).changed


def test_a_pinned_message_stays_with_its_pair_and_its_question() -> None:
    result = collected(HISTORY, full=1.5, reason="overflow", pinned=[6])
    assert left(HISTORY, result) == [0, 4, 5, 6, 8, 9, 10, 11]


def test_a_locked_result_keeps_its_call() -> None:
    marks = {6: (Source.CONVERSATION, Policy.LOCKED)}
    assert left(HISTORY, collected(HISTORY, full=1.5, reason="overflow", marks=marks)) == [0, 4, 5, 6, 8, 9, 10, 11]


def test_an_ephemeral_result_does_not_go_without_its_call() -> None:
    marks = {1: (Source.CONVERSATION, Policy.PRESERVABLE)}
    assert left(HISTORY, collected(HISTORY, free=1, marks=marks)) == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]


def test_a_question_that_somebody_marked_ephemeral_goes_with_its_turn() -> None:
    history = talk(3)
    marks = {2: (Source.CONVERSATION, Policy.EPHEMERAL)}
    assert left(history, collected(history, free=1, marks=marks)) == [0, 2, 3, 4, 5]


def test_what_depends_on_a_turn_stays_as_long_as_the_turn_does() -> None:
    history = [Message.user("zero"), *work(1), *talk(1)]
    history.insert(2, Message.user(PICTURE))
    assert left(history, collected(history)) == [0, 1, 2, 5, 6, 7], "the file stays beside the preserved answer"
    assert left(history, collected(history, full=1.5)) == [0, 6, 7]


def test_a_round_that_an_instruction_directs_goes_with_its_turn_only() -> None:
    history = [Message.user("one"), Message.system("use the tool"), ask("a"), give("a"), Message.model("1"), *talk(1)]
    assert not collected(history).changed
    assert left(history, collected(history, full=1.5)) == [0, 5, 6]


def test_a_summary_goes_only_under_pressure() -> None:
    summed = SummarizeGC(lambda messages, token: "x" * 200).collect(work(6), config=GCConfig(keep_turns=3))
    history = list(summed.messages)
    assert summed.added[0] in collected(history).messages
    assert summed.added[0] not in collected(history, full=0.95).messages


def test_nothing_goes_where_the_target_is_met_already() -> None:
    assert not BudgetGC().collect(HISTORY, config=GCConfig(context_limit=10_000), reason="threshold").changed


def test_the_removal_list_says_what_the_history_says() -> None:
    result = collected(HISTORY)
    assert set(result.removed_ids) == set(ids(HISTORY)) - set(ids(result.messages))
    assert same_objects(result.messages, [HISTORY[n] for n in left(HISTORY, result)])
