"""Both histories after every operation: what is the same, what is not, and what could not be seen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from suites.build import RunBuilder, error, spoilt

from turnproof.commands.gates.combined_runs import over_runs
from turnproof.commands.gates.decision import Reason, decided
from turnproof.commands.gates.histories import histories_agree
from turnproof.judge.finding import Compared
from turnproof.judge.verdict import Status
from turnproof.judge.view import View
from turnproof.messages import FunctionCall, Message, Text, Thought, ToolResult
from turnproof.run.transcript import HistorySnapshot, Refused

from .words import message, wording

PLAN = FunctionCall("toolu_1", "read_sensor", {"bed": 3})


def conversation() -> RunBuilder:
    """A turn with tools, a collection, and a turn without."""
    builder = RunBuilder(path="legacy").turn("Bed 3?").call("Let me see.", PLAN)
    builder.results(ToolResult("toolu_1", "read_sensor", "41 %")).call("It has 41 %.").end()
    builder.snapshot("gc")
    return builder.turn("Thanks.").call("Welcome.").end()


def findings(view: View) -> list[str | Reason]:
    """What was compared by its name, and the reasons."""
    return [one.what if isinstance(one, Compared) else one for one in histories_agree(view)]


def only(view: View) -> Reason:
    """The one reason that a run with a fault gives."""
    reasons = [finding for finding in findings(view) if isinstance(finding, Reason)]
    assert len(reasons) == 1
    return reasons[0]


def changed(builder: RunBuilder, nth: int, owner: str, *messages: Message) -> View:
    """The run with the nth history of one owner replaced."""
    at = [n for n, event in enumerate(builder.events) if isinstance(event, HistorySnapshot) and event.owner == owner][
        nth
    ]
    builder.events[at] = replace(builder.events[at], messages=messages)
    return builder.view()


def test_each_operation_is_named_by_what_it_was() -> None:
    assert findings(conversation().view()) == ["a turn with a round of tools", "a collection", "a turn"]


@pytest.mark.parametrize(
    ("outcome", "words"), [("answer", "a turn"), ("cancelled", "a cancelled turn"), ("error", "a failed turn")]
)
def test_a_turn_is_named_by_how_it_ended(outcome: str, words: str) -> None:
    assert findings(RunBuilder(path="legacy").turn("Hello?").call("Hi.").end(outcome).view()) == [words]


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ("gc", "a collection"),
        ("save-load", "saving and loading"),
        ("new-provider", "a swap of the provider"),
        ("reset", "a reset"),
        ("revert", "a revert"),
        ("something-new", "something-new"),
    ],
)
def test_operations_between_turns_are_compared_too(after: str, words: str) -> None:
    builder = RunBuilder(path="legacy").turn("Hello?").snapshot(after)
    assert findings(builder.view()) == [words]
    verdict = only(changed(builder, 0, "session"))
    text = wording(1).sentence(verdict)
    assert "The session's history is not the provider's. turn 0: expected " in text
    assert text.endswith(f" at $[0] after {words}, as the provider has it; got nothing")


def test_a_drift_is_told_once_where_it_began_with_both_sides() -> None:
    builder = conversation()
    drifted = builder.history[:-3]
    found = findings(changed(builder, 1, "session", *drifted, Message.model("It has 14 %.")))
    assert found[0] == "a turn with a round of tools"
    assert len(found) == 2
    assert isinstance(found[1], Reason)
    assert found[1].status is Status.VIOLATED
    finding = found[1].finding
    assert finding.code == "gate/histories-agree/differs"
    assert (finding.expected, finding.observed) == ("It has 41 %.", "It has 14 %.")
    assert finding.place.pointer == "/session"
    assert wording(1).sentence(found[1]) == (
        "made/legacy/stream: The session's history is not the provider's. turn 0: "
        'expected "It has 41 %." at $[3].parts[0].text after a collection, as the provider has it; got "It has 14 %."'
    )


@pytest.mark.parametrize(
    ("session", "provider"),
    [
        (Message.user("Hello"), Message("user", (Text("Hello"),), "another-id")),
        (Message.user("Hello", " "), Message.user("Hello")),
        (Message.model("Hel", "lo"), Message.model("Hello")),
        (Message.model(Thought("Hm."), "Hello"), Message.model("Hello")),
    ],
    ids=["ids of messages", "blank text", "pieces of text", "thoughts"],
)
def test_what_says_nothing_is_no_drift(session: Message, provider: Message) -> None:
    builder = RunBuilder(path="legacy").turn("Hello")
    builder.add(*_both((session,), (provider,)))
    assert findings(builder.view()) == ["a turn"]


@pytest.mark.parametrize(
    ("session", "provider", "path"),
    [
        ([Message.user("Hi")], [Message.user("Hi"), Message.model("Hello")], "$[1]"),
        ([Message.user("Hi")], [Message.model("Hi")], "$[0]"),
        ([Message.model("a")], [Message.model("ab")], "$[0].parts[0].text"),
        ([Message.tool(ToolResult("c", "t", 1))], [Message.tool(ToolResult("c", "t", True))], "$[0].parts[0].value"),
        (
            [Message.tool(ToolResult("c", "t", 1))],
            [Message.tool(ToolResult("c", "t", 1, is_error=True))],
            "$[0].parts[0].error",
        ),
        ([Message.model(PLAN)], [Message.model(replace(PLAN, args={"bed": 4}))], "$[0].parts[0].args.bed"),
    ],
)
def test_what_says_something_is(session: list[Message], provider: list[Message], path: str) -> None:
    builder = RunBuilder(path="legacy").turn("Hello")
    builder.add(*_both(tuple(session), tuple(provider)))
    reasons = [finding for finding in findings(builder.view()) if isinstance(finding, Reason)]
    assert reasons[0].finding.facts["path"] == path


def _both(session: tuple[Message, ...], provider: tuple[Message, ...]) -> list[HistorySnapshot]:
    return [
        HistorySnapshot(owner="session", messages=session, turn=0),
        HistorySnapshot(owner="provider", messages=provider, turn=0),
    ]


def test_a_provider_whose_history_is_not_shown_leaves_it_undecided() -> None:
    hidden = spoilt(
        conversation().view(), HistorySnapshot, lambda event: event if event.owner == "session" else None, every=True
    )
    verdict = only(hidden)
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.finding.code == "gate/histories-agree/provider-not-shown"


def test_a_history_that_cannot_be_read_does_not_agree() -> None:
    builder = conversation().add(replace(error("RuntimeError", typed=False), turn=1))
    verdict = only(builder.view())
    assert verdict.status is Status.VIOLATED
    assert message(decided([verdict])) == (
        "made/legacy/stream: A history cannot be read. turn 1: expected the history of the provider; "
        "got RuntimeError: RuntimeError was raised"
    )
    builder = conversation().add(Refused(operation="history", error="TypeError", message="no list", turn=0))
    text = wording().sentence(only(builder.view()))
    assert "turn 0: expected the history of the session; got TypeError: no list" in text


def test_a_failure_while_the_adapter_is_shut_down_says_nothing_of_histories() -> None:
    builder = conversation().add(error("RuntimeError", typed=False))
    assert not any(isinstance(finding, Reason) for finding in findings(builder.view()))


def test_several_runs_add_up_and_the_message_names_the_run() -> None:
    verdict = over_runs([("off", conversation().view())] * 2, histories_agree)
    assert verdict.status is Status.HELD
    assert verdict.compared == ("a turn with a round of tools ×2", "a collection ×2", "a turn ×2")
    drifted = changed(conversation(), 2, "provider")
    verdict = over_runs([("off", conversation().view()), ("off", drifted), ("off", drifted)], histories_agree)
    assert verdict.status is Status.VIOLATED
    runs = {reason.finding.place.run for reason in verdict.reasons}
    assert runs == {"made/legacy/stream"}
    assert "turn 1: expected" in message(verdict)
    assert message(verdict).endswith(f"(and {len(verdict.reasons) - 1} more)")


def test_a_run_that_came_to_no_end_decides_nothing() -> None:
    verdict = over_runs([("off", conversation().view(how="hung", detail="in turn 1"))], histories_agree)
    assert verdict.status is Status.INCONCLUSIVE
    assert message(verdict) == (
        "with TURNPROOF_SESSION_OWNED_HISTORY=0: made/legacy/stream: The run did not come to its end. "
        'expected completed; got hung ("in turn 1")'
    )


def test_no_run_at_all_decides_nothing() -> None:
    assert over_runs([], histories_agree).status is Status.INCONCLUSIVE
