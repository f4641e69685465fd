"""Collections with a summary: it stands for what is gone, or nothing goes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from turnproof.budget import InstructionBudget, Policy, is_note
from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled, OverloadedError, ProviderError, UsageError
from turnproof.gc import GCConfig, HybridGC, ProviderSummarizer, SummarizeGC, Summarizer, transcript
from turnproof.gc.summarizer import INSTRUCTION, LONGEST_RESULT
from turnproof.messages import (
    FinishReason,
    FunctionCall,
    InlineData,
    Message,
    ProviderResponse,
    Text,
    Thought,
    ToolResult,
)

from .histories import ids, same_objects, talk, work

TWO = GCConfig(keep_turns=2)


@dataclasses.dataclass
class Writer:
    """A summarizer that remembers what it was given."""

    text: str = "They talked."
    histories: list[list[Message]] = dataclasses.field(default_factory=list)

    def __call__(self, messages: Sequence[Message], token: CancelToken) -> str:
        self.histories.append(list(messages))
        return self.text


def test_the_oldest_turns_become_one_summary_in_front() -> None:
    history, writer = talk(5), Writer()
    result = SummarizeGC(writer).collect(history, config=TWO)
    summary = result.messages[0]
    assert (summary.role, summary.text) == ("user", "Summary of the conversation so far:\n\nThey talked.")
    assert result.added == (summary,)
    assert same_objects(result.messages[1:], history[6:])
    assert result.removed_ids == tuple(ids(history[:6]))
    assert same_objects(writer.histories[0], history[:6])


def test_a_summary_is_preserved_and_no_turn() -> None:
    result = SummarizeGC(Writer()).collect(talk(5), config=TWO)
    budget = InstructionBudget()
    budget.sync(result.messages)
    assert budget.turns == 2
    assert [entry.policy for entry in budget.entries()][:2] == [Policy.PRESERVABLE, Policy.LOCKED]


def test_an_earlier_summary_is_summed_up_again() -> None:
    writer = Writer()
    once = SummarizeGC(writer).collect(talk(5), config=TWO)
    again = SummarizeGC(writer).collect([*once.messages, *talk(1)], config=TWO)
    assert same_objects(writer.histories[1], once.messages[:3])
    assert [is_note(message) for message in again.messages] == [True, False, False, False, False]
    assert again.added[0].message_id != once.added[0].message_id


def test_a_summary_alone_is_not_summed_up() -> None:
    writer = Writer()
    once = SummarizeGC(writer).collect(talk(5), config=TWO)
    again = SummarizeGC(writer).collect(once.messages, config=TWO)
    assert (again.changed, again.success, len(writer.histories)) == (False, True, 1)


def test_what_is_pinned_is_not_summed_up_and_stays_behind_the_summary() -> None:
    history, writer = talk(5), Writer()
    config = GCConfig(keep_turns=2, pinned=frozenset({history[2].message_id}))
    result = SummarizeGC(writer).collect(history, config=config)
    assert same_objects(result.messages[1:], [history[2], *history[6:]])
    assert history[2] not in writer.histories[0]


def test_nothing_is_summed_up_where_all_of_it_is_pinned() -> None:
    history, writer = talk(3), Writer()
    result = SummarizeGC(writer).collect(history, config=GCConfig(keep_turns=1, pinned=frozenset(ids(history))))
    assert (result.changed, result.success, writer.histories) == (False, True, [])


def raising(error: BaseException) -> Summarizer:
    def summarize(messages: Sequence[Message], token: CancelToken) -> str:
        raise error

    return summarize


def cancelling(messages: Sequence[Message], token: CancelToken) -> str:
    token.cancel()
    return "written in spite of it"


FAILURES: list[tuple[str, Summarizer | None, str]] = [
    ("missing", None, "there is no summarizer"),
    ("failing", raising(OverloadedError("busy")), "the summarizer failed: OverloadedError: busy"),
    ("a bug", raising(KeyError("x")), "the summarizer failed: KeyError: 'x'"),
    ("empty", Writer(""), "the summarizer returned no text"),
    ("blank", Writer(" \n"), "the summarizer returned no text"),
    ("no text", lambda messages, token: None, "the summarizer returned no text"),  # type: ignore[list-item,return-value]
    ("cancelled", raising(Cancelled("the turn was cancelled")), "the turn was cancelled"),
    ("cancelled meanwhile", cancelling, "the turn was cancelled"),
    ("too long", Writer("blah " * 1000), "the summary is no shorter than what it stands for"),
]


@pytest.mark.parametrize("make", [SummarizeGC, HybridGC])
@pytest.mark.parametrize(("summarizer", "error"), [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
def test_without_its_summary_a_collection_changes_nothing(
    make: Callable[[Summarizer | None], SummarizeGC], summarizer: Summarizer | None, error: str
) -> None:
    history = talk(5)
    result = make(summarizer).collect(history, config=TWO)
    assert (result.success, result.error) == (False, error)
    assert same_objects(result.messages, history)
    assert (result.removed_ids, result.added, result.tokens_freed) == ((), (), 0)


def test_a_collection_that_was_cancelled_before_asks_nobody() -> None:
    writer, token = Writer(), CancelToken()
    token.cancel()
    assert not SummarizeGC(writer).collect(talk(5), config=TWO, token=token).success
    assert writer.histories == []


def test_what_is_no_exception_of_the_summarizers_is_not_swallowed() -> None:
    with pytest.raises(KeyboardInterrupt):
        SummarizeGC(raising(KeyboardInterrupt())).collect(talk(5), config=TWO)


# Hybrid


def test_the_middle_is_summed_up_and_the_ancient_dropped() -> None:
    history, writer = talk(6), Writer()
    result = HybridGC(writer, middle_turns=1).collect(history, config=TWO)
    assert same_objects(writer.histories[0], history[6:8])
    assert same_objects(result.messages[1:], history[8:])
    assert result.removed_ids == tuple(ids(history[:8]))


def test_an_earlier_summary_is_not_among_the_ancient() -> None:
    writer = Writer()
    once = HybridGC(writer, middle_turns=1).collect(talk(6), config=TWO)
    HybridGC(writer, middle_turns=1).collect([*once.messages, *talk(3)], config=TWO)
    assert writer.histories[1][0] is once.added[0]
    assert len(writer.histories[1]) == 3


def test_the_middle_has_at_least_one_turn() -> None:
    with pytest.raises(UsageError, match="use TruncateGC"):
        HybridGC(Writer(), middle_turns=0)


# Who writes it


class Model:
    """A stateless provider that answers one thing."""

    def __init__(self, response: ProviderResponse) -> None:
        self.response = response
        self.requests: list[tuple[Any, ...]] = []

    def complete(self, messages: Any, system_instruction: Any = None, tools: Any = None, **kwargs: Any) -> Any:
        self.requests.append((list(messages), system_instruction, tools, kwargs))
        return self.response


def answer(text: str, finish: FinishReason = FinishReason.STOP) -> ProviderResponse:
    return ProviderResponse((Text(text),), finish_reason=finish)


def test_a_model_is_given_a_transcript_and_nothing_else() -> None:
    model, token = Model(answer("They worked.")), CancelToken()
    assert ProviderSummarizer(model)(work(1, size=4), token) == "They worked."
    ((messages, system, tools, kwargs),) = model.requests
    assert (system, tools, kwargs) == (INSTRUCTION, None, {"cancel_token": token})
    assert [message.role for message in messages] == ["user"]
    assert messages[0].text == (
        "User: task 0\n\nAssistant: [calls look {}]\n\nTools: [look answered: rrrr]\n\nAssistant: done 0"
    )


@pytest.mark.parametrize("finish", [FinishReason.STOP, FinishReason.MAX_TOKENS, FinishReason.UNKNOWN])
def test_a_summary_that_came_to_an_end_counts(finish: FinishReason) -> None:
    assert ProviderSummarizer(Model(answer("They", finish)))(talk(1), CancelToken()) == "They"


@pytest.mark.parametrize("finish", [FinishReason.SAFETY, FinishReason.REFUSAL, FinishReason.TOOL_USE])
def test_an_answer_that_is_no_summary_is_a_failure(finish: FinishReason) -> None:
    with pytest.raises(ProviderError, match=finish.value):
        ProviderSummarizer(Model(answer("I will not", finish)))(talk(1), CancelToken())


def test_half_a_summary_of_a_cancelled_call_is_none() -> None:
    with pytest.raises(Cancelled):
        ProviderSummarizer(Model(answer("They", FinishReason.CANCELLED)))(talk(1), CancelToken())


def test_a_provider_that_owns_its_history_is_refused() -> None:
    with pytest.raises(UsageError, match=r"object has no complete\(\).*take the summary's request into it"):
        ProviderSummarizer(object())  # type: ignore[arg-type]


def test_a_transcript_shows_who_said_what() -> None:
    result = SummarizeGC(Writer()).collect(talk(3), config=GCConfig(keep_turns=1))
    conversation = [
        result.added[0],
        Message.user("look", InlineData("image/png", b"\x89PNG")),
        Message.model(Thought("hm"), "Looking.", FunctionCall("1", "look", {"at": "bed 3"})),
        Message.tool(ToolResult("1", "look", {"dry": True}, is_error=True)),
        Message.system("be kind"),
        Message.model(Thought("only thinking")),
    ]
    assert transcript(conversation).split("\n\n") == [
        "Summary of what came before: Summary of the conversation so far:",
        "They talked.",
        "User: look\n[a file: image/png]",
        'Assistant: Looking.\n[calls look {"at":"bed 3"}]',
        'Tools: [look failed: {"dry":true}]',
        "Instruction: be kind",
    ]


def test_a_long_result_is_shortened_in_a_transcript() -> None:
    text = transcript([Message.tool(ToolResult("1", "look", "r" * (LONGEST_RESULT + 5)))])
    assert text == f"Tools: [look answered: {'r' * LONGEST_RESULT} (and 5 more characters)]"
