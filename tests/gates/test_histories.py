"""Both histories after every operation: what is the same, what is not, and what could not be seen."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from suites.build import Made, error, spoilt

from turnproof.gates.checks import over_runs
from turnproof.gates.histories import histories_agree
from turnproof.messages import FunctionCall, Message, Text, Thought, ToolResult
from turnproof.transcript import HistorySnapshot, Refused
from turnproof.verdict import Status, Verdict
from turnproof.view import View

PLAN = FunctionCall("toolu_1", "read_sensor", {"bed": 3})


def conversation() -> Made:
    """A turn with tools, a collection, and a turn without."""
    made = Made(path="legacy").turn("Bed 3?").call("Let me see.", PLAN)
    made.results(ToolResult("toolu_1", "read_sensor", "41 %")).call("It has 41 %.").end()
    made.snapshot("gc")
    return made.turn("Thanks.").call("Welcome.").end()


def findings(view: View) -> list[str | Verdict]:
    return list(histories_agree(view))


def only(view: View) -> Verdict:
    """The one verdict that a run with a fault gives."""
    verdicts = [finding for finding in findings(view) if isinstance(finding, Verdict)]
    assert len(verdicts) == 1
    return verdicts[0]


def changed(made: Made, nth: int, owner: str, *messages: Message) -> View:
    """The run with the nth history of one owner replaced."""
    at = [n for n, event in enumerate(made.events) if isinstance(event, HistorySnapshot) and event.owner == owner][nth]
    made.events[at] = replace(made.events[at], messages=messages)
    return made.view()


def test_each_operation_is_named_by_what_it_was() -> None:
    assert findings(conversation().view()) == ["a turn with a round of tools", "a collection", "a turn"]


@pytest.mark.parametrize(
    ("outcome", "words"), [("answer", "a turn"), ("cancelled", "a cancelled turn"), ("error", "a failed turn")]
)
def test_a_turn_is_named_by_how_it_ended(outcome: str, words: str) -> None:
    assert findings(Made(path="legacy").turn("Hello?").call("Hi.").end(outcome).view()) == [words]


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
    made = Made(path="legacy").turn("Hello?").snapshot(after)
    assert findings(made.view()) == [words]
    verdict = only(changed(made, 0, "session"))
    assert (
        f"turn 0, after {words}: the session's history is not the provider's: $[0]: session (absent)" in verdict.message
    )


def test_a_drift_is_told_once_where_it_began_with_both_sides() -> None:
    made = conversation()
    drifted = made.history[:-3]
    found = findings(changed(made, 1, "session", *drifted, Message.model("It has 14 %.")))
    assert found[0] == "a turn with a round of tools"
    assert len(found) == 2
    assert isinstance(found[1], Verdict)
    assert found[1].status is Status.VIOLATED
    assert found[1].message == (
        "turn 0, after a collection: the session's history is not the provider's: "
        "$[3].parts[0].text: session 'It has 14 %.', provider 'It has 41 %.'"
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
    made = Made(path="legacy").turn("Hello")
    made.add(*_both((session,), (provider,)))
    assert findings(made.view()) == ["a turn"]


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
    made = Made(path="legacy").turn("Hello")
    made.add(*_both(tuple(session), tuple(provider)))
    assert path in only(made.view()).message


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
    assert "the provider's own history is not shown" in verdict.message


def test_a_history_that_cannot_be_read_does_not_agree() -> None:
    made = conversation().add(replace(error("RuntimeError", typed=False), turn=1))
    verdict = only(made.view())
    assert verdict.status is Status.VIOLATED
    assert (
        verdict.message
        == "turn 1: the provider's history cannot be read: it raised RuntimeError: RuntimeError was raised"
    )
    made = conversation().add(Refused(operation="history", error="TypeError", message="no list", turn=0))
    assert "turn 0: the session's history cannot be read: it raised TypeError: no list" in only(made.view()).message


def test_a_failure_while_the_adapter_is_shut_down_says_nothing_of_histories() -> None:
    made = conversation().add(error("RuntimeError", typed=False))
    assert not any(isinstance(finding, Verdict) for finding in findings(made.view()))


def test_several_runs_add_up_and_the_message_names_the_run() -> None:
    verdict = over_runs([conversation().view(), conversation().view()], histories_agree)
    assert verdict.status is Status.HELD
    assert verdict.compared == ("a turn with a round of tools ×2", "a collection ×2", "a turn ×2")
    drifted = changed(conversation(), 2, "provider")
    verdict = over_runs([conversation().view(), drifted, drifted], histories_agree)
    assert verdict.status is Status.VIOLATED
    assert verdict.message.startswith("made/legacy/stream: turn 1, after a turn: ")
    assert verdict.message.endswith("(and in 1 more)")


def test_a_run_that_came_to_no_end_decides_nothing() -> None:
    verdict = over_runs([conversation().view(how="hung", detail="in turn 1")], histories_agree)
    assert verdict.status is Status.INCONCLUSIVE
    assert verdict.message == "made/legacy/stream: the run did not come to its end (hung): in turn 1"


def test_no_run_at_all_decides_nothing() -> None:
    assert over_runs([], histories_agree).status is Status.INCONCLUSIVE
