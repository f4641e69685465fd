"""What must hold for every valid history, every collector, every threshold, and a second time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof.budget import InstructionBudget, Policy, Source
from turnproof.cancel import CancelToken
from turnproof.errors import ProviderError
from turnproof.gc import (
    BudgetGC,
    Collector,
    CompactGC,
    GCConfig,
    GCResult,
    HybridGC,
    Reason,
    SummarizeGC,
    TruncateGC,
    cut_results,
)
from turnproof.messages import Message, Opaque, Part, TokenUsage
from turnproof.tokens import message_tokens

from .histories import assert_sound, histories, ids, is_part_of, same_objects, untouched


def failing(messages: Sequence[Message], token: CancelToken) -> str:
    raise ProviderError("no summary today")


class Service:
    """What a service does that makes conversations shorter: what the user said stays, an item has the rest."""

    def compact(self, messages: Sequence[Message], system: object = None, *, cancel_token: object) -> list[Message]:
        user_messages = [message for message in messages if message.role == "user"]
        return [*user_messages, Message("model", (Opaque("service", "item", {"of": len(messages)}),))]

    def is_compaction(self, part: Part) -> bool:
        return isinstance(part, Opaque) and part.dialect == "service"

    def set_compact_threshold(self, tokens: int | None) -> None:
        assert tokens is None


COLLECTORS: dict[str, Callable[[], Collector]] = {
    "truncate": TruncateGC,
    "summarize": lambda: SummarizeGC(lambda messages, token: f"{len(messages)} messages"),
    "hybrid": lambda: HybridGC(lambda messages, token: f"{len(messages)} messages", middle_turns=1),
    "budget": BudgetGC,
    "compact": lambda: CompactGC().for_provider(Service()),
    "summarize, in vain": lambda: SummarizeGC(failing),
}

REASONS: list[Reason] = ["threshold", "turn-limit", "continuous", "manual", "overflow"]

configs = st.builds(
    GCConfig,
    context_limit=st.sampled_from([None, 1, 50, 200, 1000]),
    target=st.sampled_from([0.1, 0.5]),
    threshold=st.sampled_from([0.6, 1.0]),
    keep_turns=st.integers(1, 4),
    pressure=st.sampled_from([0.1, 1.0]),
    pinned=st.frozensets(st.integers(1, 20).map("m{}".format), max_size=2),
    notice=st.sampled_from([None, "Gone."]),
)


@examples(40)
@given(
    histories(),
    configs,
    st.sampled_from(sorted(COLLECTORS)),
    st.sampled_from(REASONS),
    st.sampled_from([None, 0.5, 3.0]),
    st.dictionaries(st.integers(1, 20).map("m{}".format), st.sampled_from(list(Policy)), max_size=3),
)
def test_any_valid_history_stays_valid_through_any_collector_twice(
    history: list[Message],
    config: GCConfig,
    name: str,
    reason: Reason,
    rate: float | None,
    marks: dict[str, Policy],
) -> None:
    budget = InstructionBudget(config.context_limit)
    for message_id, policy in marks.items():
        budget.mark(message_id, Source.CONVERSATION, policy)
    budget.sync(history)
    if rate is not None:
        total = max(1, int(rate * sum(map(message_tokens, history))))
        budget.report(TokenUsage(total, 0, total))
    copy = list(history)
    for _ in range(2):
        result = COLLECTORS[name]().collect(history, config=config, reason=reason, budget=budget)
        check(result, history, budget, config)
        assert untouched(copy, history), "the input is as it was"
        history = list(result.messages)
        budget.sync(history)
        copy = list(history)


def check(result: GCResult, history: list[Message], budget: InstructionBudget, config: GCConfig) -> None:
    assert_sound(result.messages)
    assert result.messages[-1] is history[-1], "what was said last stays last"
    left = [message for message in result.messages if message not in result.added]
    assert is_part_of(left, history)
    remaining_ids = {message.message_id for message in left}
    assert result.removed_ids == tuple(one for one in ids(history) if one not in remaining_ids)
    assert not config.pinned.intersection(result.removed_ids)
    assert (result.before, result.after) == (len(history), len(result.messages))
    assert (result.tokens_freed > 0) == result.changed == (not same_objects(result.messages, history))
    if not result.success:
        assert not result.changed
    before = budget.used
    probe = InstructionBudget()
    probe.restore(budget.state(), history)
    probe.sync(result.messages)
    assert 0 < probe.used <= before, "fullness is neither 0 nor more than before"
    assert abs(before - probe.used - result.tokens_freed) <= 1


@examples(20)
@given(histories(), st.integers(0, 3000))
def test_cutting_results_changes_nothing_else(history: list[Message], free: int) -> None:
    budget = InstructionBudget()
    budget.sync(history)
    copy = list(history)
    result = cut_results(history, free=free, budget=budget)
    assert untouched(copy, history)
    assert_sound(result.messages)
    assert ids(result.messages) == ids(history)
    for old, new in zip(history, result.messages, strict=True):
        assert (new is not old) == (old.message_id in result.cut_ids)
        assert [(one.call_id, one.is_error) for one in new.results] == [
            (one.call_id, one.is_error) for one in old.results
        ]
    before = budget.used
    budget.sync(result.messages)
    assert before - budget.used == result.tokens_freed


@examples(20)
@given(histories(), st.integers(1, 7))
def test_truncation_leaves_as_many_turns_as_it_says(history: list[Message], keep: int) -> None:
    budget = InstructionBudget()
    budget.sync(history)
    result = TruncateGC().collect(history, config=GCConfig(keep_turns=keep), budget=budget)
    turns = budget.turns
    budget.sync(result.messages)
    assert budget.turns == min(keep, turns)
