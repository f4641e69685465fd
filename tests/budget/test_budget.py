"""`InstructionBudget`: entries for exactly what is held, and a sum that agrees with the provider."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from turnproof import tokens
from turnproof.budget import BudgetState, InstructionBudget, Policy, Source, note
from turnproof.messages import FunctionCall, Message, Part, Text, Thought, TokenUsage, ToolResult, ToolSchema
from turnproof.tokens import message_tokens, text_tokens, tool_tokens

TOOLS = [ToolSchema("look", "Looks."), ToolSchema("walk", "Walks.")]


def usage(prompt: int, output: int = 0) -> TokenUsage:
    return TokenUsage(prompt, output, prompt + output)


def call(id: str) -> Message:
    return Message.model(FunctionCall(id, "look"))


def result(id: str) -> Message:
    return Message.tool(ToolResult(id, "look", "seen"))


def budget_of(*messages: Message) -> InstructionBudget:
    budget = InstructionBudget()
    budget.sync(messages)
    return budget


def policies(*messages: Message) -> list[Policy]:
    return [entry.policy for entry in budget_of(*messages).entries()]


LOCKED, PRESERVABLE, PARTIAL, EPHEMERAL, CONDITIONAL = (
    Policy.LOCKED,
    Policy.PRESERVABLE,
    Policy.PARTIAL,
    Policy.EPHEMERAL,
    Policy.CONDITIONAL,
)


# What is what


def test_each_source_has_its_entries() -> None:
    thinking = Message.model(Thought("hm " * 10), "Hello")
    news = Message.user("news")
    budget = InstructionBudget()
    budget.frame("be brief", TOOLS)
    budget.mark(news.message_id, Source.ENRICHMENT, EPHEMERAL)
    budget.sync([Message.user("Hi"), thinking, news])
    found = [(entry.source, entry.policy, entry.id) for entry in budget.entries()]
    assert found == [
        (Source.SYSTEM, LOCKED, ""),
        (Source.PLUGIN, LOCKED, "look"),
        (Source.PLUGIN, LOCKED, "walk"),
        (Source.CONVERSATION, LOCKED, budget.entries()[3].id),
        (Source.CONVERSATION, PARTIAL, thinking.message_id),
        (Source.THINKING, PARTIAL, thinking.message_id),
        (Source.ENRICHMENT, EPHEMERAL, news.message_id),
    ]
    sums = budget.by_source()
    assert sums[Source.SYSTEM] == text_tokens("be brief")
    assert sums[Source.PLUGIN] == sum(map(tool_tokens, TOOLS))
    assert sum(sums.values()) == sum(entry.tokens for entry in budget.entries()) == budget.used


def test_only_the_first_thing_that_the_user_said_is_locked() -> None:
    assert policies(Message.user("a"), Message.model("b"), Message.user("c")) == [LOCKED, PARTIAL, PARTIAL]


def test_work_is_ephemeral_and_the_answer_to_it_preservable() -> None:
    turn = [Message.user("a"), call("1"), result("1"), Message.model("done")]
    assert policies(*turn) == [LOCKED, EPHEMERAL, EPHEMERAL, PRESERVABLE]
    assert policies(*turn, Message.user("b"), Message.model("c"))[4:] == [PARTIAL, PARTIAL], "the next turn did no work"


def test_what_says_something_about_others_is_conditional() -> None:
    files = Message.user(Text(""))
    assert policies(Message.user("a"), files, Message.system("be kind"))[1:] == [CONDITIONAL, CONDITIONAL]


def test_a_summary_is_preservable_and_a_notice_is_enrichment() -> None:
    budget = budget_of(note("notice", "gone", []), note("summary", "they talked", []), Message.user("a"))
    assert [(entry.source, entry.policy) for entry in budget.entries()] == [
        (Source.ENRICHMENT, EPHEMERAL),
        (Source.CONVERSATION, PRESERVABLE),
        (Source.CONVERSATION, LOCKED),
    ]
    assert budget.turns == 1


def test_a_mark_holds_whenever_it_is_made() -> None:
    message = Message.user("keep this")
    before, after = InstructionBudget(), budget_of(Message.user("a"), message)
    before.mark(message.message_id, Source.CONVERSATION, LOCKED)
    before.sync([Message.user("a"), message])
    after.mark(message.message_id, Source.CONVERSATION, LOCKED)
    assert before.entries()[1].policy == after.entries()[1].policy == LOCKED


def test_enrichment_is_no_turn() -> None:
    news = Message.user("news")
    budget = budget_of(news, Message.user("a"))
    assert budget.turns == 2
    budget.mark(news.message_id, Source.ENRICHMENT, EPHEMERAL)
    assert (budget.turns, budget.aside) == (1, {news.message_id})
    assert budget.entries()[1].policy == LOCKED


def test_the_locked_head_ends_at_the_first_message_that_may_go() -> None:
    first, answer, later = Message.user("a"), Message.model("b"), Message.user("c")
    budget = InstructionBudget()
    assert [budget.stable_head(history) for history in ([], [first], [first, answer, later])] == [0, 1, 1]
    budget.mark(answer.message_id, Source.CONVERSATION, LOCKED)
    assert budget.stable_head([first, answer, later]) == 2


# What it comes to


def test_before_any_report_it_is_the_rulers_sum() -> None:
    history = [Message.user("a" * 400), Message.model("b" * 40)]
    assert budget_of(*history).used == sum(map(message_tokens, history))


def test_after_a_report_it_is_what_the_provider_said() -> None:
    budget = budget_of(Message.user("a" * 400), Message.model("b" * 40))
    for total in (17, 5_000, 333):
        budget.report(usage(total - 7, 7))
        assert budget.used == total


def test_a_report_without_figures_changes_nothing() -> None:
    budget = budget_of(Message.user("a" * 400))
    budget.report(usage(500))
    budget.report(TokenUsage())
    assert budget.used == 500


def test_successive_calls_of_a_turn_are_not_summed() -> None:
    history = [Message.user("a")]
    budget = budget_of(*history)
    for n in range(3):
        history += [call(str(n)), result(str(n))]
        budget.sync(history[:-1])
        budget.report(usage(100 * (n + 1), 10))
        assert budget.used == 100 * (n + 1) + 10
        budget.sync(history)
    assert 310 < budget.used < 330


def test_what_is_added_counts_by_the_ruler_and_what_a_large_prompt_taught() -> None:
    small, large = budget_of(Message.user("a" * 40)), budget_of(Message.user("a" * 400_000))
    added = Message.user("b" * 4_000)
    small.report(usage(60))
    assert small.weigh([added]) == pytest.approx(1_002, rel=0.06), "a preamble of 50 tokens says little of the ruler"
    large.report(usage(200_000))
    assert large.weigh([added]) == pytest.approx(2_004, rel=0.01)


@pytest.mark.parametrize("rate", [0.7, 1.0, 1.6])
def test_how_prompts_grow_says_more_than_what_the_service_adds_by_itself(rate: float) -> None:
    history: list[Message] = []
    budget = InstructionBudget()
    for n in range(10):
        history.append(Message.user("a" * 4_000))
        budget.sync(history)
        budget.report(usage(20_000 + round(1_002 * rate * (n + 1))))
    added = Message.user("b" * 4_000)
    assert budget.weigh([added]) == pytest.approx(1_002 * rate, rel=0.2)


def test_what_another_provider_counts_differently_is_no_growth() -> None:
    budget = budget_of(Message.user("a" * 4_000))
    budget.report(usage(1_000))
    before = budget.used
    budget.use_other_provider()
    assert budget.used == before
    budget.report(usage(1_900))
    assert budget.used == 1_900
    assert budget.weigh([Message.user("b" * 4_000)]) < 1_500, "there were 2,000 tokens in all to learn from"


def test_no_report_makes_a_ruler_of_nonsense() -> None:
    added = Message.user("b" * 4_000)
    for total in (1, 10**9):
        budget = budget_of(Message.user("a" * 400_000))
        budget.report(usage(total))
        assert 500 <= budget.weigh([added]) <= 2_004


def test_what_is_removed_is_deducted_exactly() -> None:
    history = [Message.user("a" * 4_000), Message.model("b" * 400), Message.user("c" * 100), Message.model("d")]
    budget = budget_of(*history)
    budget.report(usage(3_000))
    freed = budget.weigh(history[:2])
    budget.sync(history[2:])
    assert budget.used == round(3_000 - freed)
    assert 0 < budget.used < 3_000


def test_a_summary_adds_its_own_entry() -> None:
    history = [Message.user("a" * 4_000), Message.model("b"), Message.user("c")]
    budget = budget_of(*history)
    budget.report(usage(1_200))
    summary = note("summary", "they talked", history[:2])
    left = budget.weigh([summary, history[2]])
    budget.sync([summary, history[2]])
    assert budget.used == round(left)
    assert [entry.id for entry in budget.entries()] == [summary.message_id, history[2].message_id]


def test_a_message_that_says_something_else_under_its_id_is_another_one() -> None:
    message = Message.user("a" * 4_000)
    budget = budget_of(message)
    budget.report(usage(2_000))
    shorter = Message.user("a" * 40)
    msgspec.structs.force_setattr(shorter, "message_id", message.message_id)
    budget.sync([shorter])
    assert budget.used < 50


def test_the_limit_makes_it_a_share() -> None:
    budget = budget_of(Message.user("a"), Message.model("b"))
    budget.limit = 1_000
    budget.report(usage(240, 10))
    found = budget.get_context_usage()
    assert (found.used, found.limit, found.percent, found.remaining, found.turns) == (250, 1_000, 25.0, 750, 1)
    more = budget.get_context_usage([Message.user("c" * 400)])
    assert 350 <= more.used <= 380
    assert budget.used == 250, "asking changes nothing"


def test_another_system_text_or_tool_set_is_counted_anew() -> None:
    budget = budget_of(Message.user("a"))
    budget.frame("x" * 4_000, [])
    budget.report(usage(1_500))
    budget.frame(Text("x" * 40), TOOLS)
    assert 10 < budget.used < 100
    budget.frame(None, [])
    assert budget.used < 10


# What it costs


def test_each_message_is_measured_once_in_its_life(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Part] = []
    measure = tokens.part_tokens

    def watched(part: Part) -> int:
        measured.append(part)
        return measure(part)

    monkeypatch.setattr(tokens, "part_tokens", watched)
    history: list[Message] = []
    budget = InstructionBudget()
    for n in range(20):
        history += [Message.user(f"a{n}"), Message.model(f"b{n}")]
        budget.sync(history)
        budget.report(usage(10 * len(history)))
        budget.get_context_usage()
    budget.sync(history[10:])
    budget.sync(history)
    InstructionBudget().sync(history)
    assert len(measured) == len(history)


# Saving


def test_a_restored_budget_goes_on_with_equal_figures() -> None:
    history = [Message.user("a" * 400), Message.model("b"), Message.user("news")]
    budget = InstructionBudget()
    budget.mark(history[2].message_id, Source.ENRICHMENT, EPHEMERAL)
    budget.frame("be brief", TOOLS)
    budget.sync(history[:2])
    budget.report(usage(700))
    budget.sync(history)
    saved = msgspec.json.decode(msgspec.json.encode(budget.state()), type=BudgetState)

    restored = InstructionBudget()
    restored.frame("be brief", TOOLS)
    restored.restore(saved, history)
    assert restored.used == budget.used > 700
    assert restored.entries() == budget.entries()
    assert restored.state() == budget.state()
    restored.sync(history[2:])
    budget.sync(history[2:])
    assert restored.used == budget.used


def test_a_state_of_another_program_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `tokens`"):
        msgspec.convert({"tokens": 3}, BudgetState)


# Any sequence of changes


@examples(60)
@given(
    st.lists(st.tuples(st.sampled_from(["add", "remove", "revert", "swap", "report"]), st.integers(0, 30)), max_size=25)
)
def test_kept_incrementally_it_is_what_it_would_be_from_scratch(steps: list[tuple[str, int]]) -> None:
    budget: InstructionBudget = budget_of()
    history: list[Message] = []
    earlier: list[Message] = []
    for what, n in steps:
        match what:
            case "add":
                history = [*history, [Message.user, Message.model][n % 2]("x" * n * 10)]
            case "remove":
                history = history[n % 5 :]
            case "revert":
                history = history[:n]
            case "swap":
                history, earlier = earlier, history
            case _:
                budget.report(usage(n * 100))
        budget.sync(history)
        anew = InstructionBudget()
        anew.restore(budget.state(), history)
        assert budget.entries() == anew.entries()
        assert (budget.used, budget.turns) == (anew.used, anew.turns)
        assert budget.used == round(budget.weigh(history))
