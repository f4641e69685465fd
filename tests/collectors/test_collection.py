"""What every collector's result says and keeps, whatever the collector decided."""

from __future__ import annotations

from turnproof.budget import InstructionBudget, Policy, Source, is_note
from turnproof.gc import BaseCollector, Collection, Collector, GCConfig, GCResult, TruncateGC
from turnproof.messages import Message, TokenUsage

from .histories import ids, same_objects, talk, work

NOTICE = GCConfig(keep_turns=1, notice="Older messages are gone.")


class Leave(BaseCollector):
    """A collector as somebody else might write it: keeps the messages at these indexes."""

    def __init__(self, *indexes: int) -> None:
        self._indexes = set(indexes)

    def work(self, collection: Collection) -> GCResult:
        return collection.leave(self._indexes)


def test_the_removal_list_is_exact_and_the_rest_are_the_same_objects() -> None:
    history = talk(3)
    result = Leave(2, 3).collect(history)
    assert same_objects(result.messages, history[2:4])
    assert result.removed_ids == (*ids(history[:2]), *ids(history[4:]))
    assert (result.before, result.after, result.success, result.changed) == (6, 2, True, True)


def test_a_collector_cannot_leave_half_a_pair_or_an_answer_without_its_question() -> None:
    history = work(2)
    assert same_objects(Leave(6).collect(history).messages, history[4:7])


def test_what_was_freed_is_what_the_budget_says_it_weighs() -> None:
    history = talk(4)
    budget = InstructionBudget()
    budget.sync(history)
    budget.report(TokenUsage(500, 0, 500))
    result = Leave(*range(2, 8)).collect(history, budget=budget)
    before = budget.used
    budget.sync(result.messages)
    assert before - budget.used == result.tokens_freed == round(before / 4)


def test_nothing_removed_is_nothing_freed() -> None:
    history = talk(2)
    result = Leave(0, 1, 2, 3).collect(history)
    assert (result.tokens_freed, result.removed_ids, result.changed, result.success) == (0, (), False, True)
    assert same_objects(result.messages, history)


def test_a_notice_stands_in_front_and_is_no_turn_for_the_next_collection() -> None:
    history = talk(5)
    once = TruncateGC().collect(history, config=NOTICE)
    assert [message.text for message in once.added] == ["Older messages are gone."]
    assert same_objects(once.messages, [*once.added, *history[8:]])
    again = TruncateGC().collect(once.messages, config=NOTICE)
    assert not again.changed, "one turn is kept, and the notice is none"


def test_the_next_notice_takes_the_place_of_the_earlier_one() -> None:
    once = TruncateGC().collect(talk(5), config=NOTICE)
    more = [*once.messages, *talk(2)]
    again = TruncateGC().collect(more, config=NOTICE)
    assert [is_note(message) for message in again.messages] == [True, False, False]
    assert again.added[0].message_id != once.added[0].message_id
    assert once.added[0].message_id in again.removed_ids


def test_what_weighs_less_than_its_notice_stays() -> None:
    history = [Message.user("a"), Message.model("b"), Message.user("c"), Message.model("d")]
    config = GCConfig(keep_turns=1, notice="A notice that is longer than all that it stands for. " * 3)
    assert not TruncateGC().collect(history, config=config).changed


def test_a_note_has_the_same_id_for_the_same_collection_and_another_for_another() -> None:
    history = talk(4)
    first, second = (TruncateGC().collect(history, config=NOTICE) for _ in range(2))
    other = TruncateGC().collect(history[2:], config=NOTICE)
    assert first.added[0].message_id == second.added[0].message_id != other.added[0].message_id


def test_what_is_marked_as_enrichment_is_no_turn() -> None:
    history = [Message.user("one"), Message.model("1"), Message.user("two"), Message.user("news"), Message.model("2")]
    budget = InstructionBudget()
    budget.mark(history[3].message_id, Source.ENRICHMENT, Policy.EPHEMERAL)
    budget.sync(history)
    result = TruncateGC().collect(history, config=GCConfig(keep_turns=1), budget=budget)
    assert same_objects(result.messages, history[2:])


def test_a_collector_of_ones_own_is_a_collector() -> None:
    collector: Collector = Leave(0)
    assert collector.should_collect(InstructionBudget().get_context_usage(), GCConfig()) is None
