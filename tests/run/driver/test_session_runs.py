"""Runs of sessions, the reference and another's: every operation leaves its mark, and what refuses is on record."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import turnproof_suites
from turnproof.dialects.base import ReplyPart
from turnproof.messages import FinishReason, Message, Text
from turnproof.run import transcript as t
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import digest
from turnproof.scenarios import Scenario, load
from turnproof.scenarios.model import Cut, ScriptRound, Turn
from turnproof.session.binding import REFERENCE
from turnproof.subject import Flag, SessionBinding, SessionReply

from .foreign_session import BARE, FOREIGN
from .test_runner import HERE

SCENARIOS = Path(next(iter(turnproof_suites.__path__))) / "scenarios"


def build_turn(text: str, answer: str = "Yes.", **fields: Any) -> Turn:
    rounds = (ScriptRound((ReplyPart(Text(answer), ("Ye", "s.")),), FinishReason.STOP),)
    return Turn(user=(Text(text),), rounds=rounds, **fields)


def talk(*turns: Turn, **fields: Any) -> Scenario:
    return Scenario(name="toy/talk", title="Talk", turns=turns, **fields)


def run(binding: SessionBinding, scenario: Scenario, path: str = "stateless", **how: Any) -> t.Transcript:
    key = t.RunKey(scenario.name, path, how.pop("mode", "stream"))  # type: ignore[arg-type]
    with Runner(in_process=True, bindings={"subject": binding}) as runner:
        return runner.run(RunSpec("subject", scenario, key, **how))


@pytest.fixture(scope="module", autouse=True)
def toys() -> Iterator[None]:
    import sys

    sys.path.insert(0, HERE)
    yield
    sys.path.remove(HERE)


def on_toy(binding: SessionBinding = REFERENCE, **fields: Any) -> SessionBinding:
    """A session on a small adapter of the tests, which has the stateless path alone."""
    return replace(binding, adapter="toys:PLAIN", **fields)


def kinds(transcript: t.Transcript) -> list[str]:
    return [type(event).__name__ for event in transcript.events]


def snapshot_texts(transcript: t.Transcript, after: str) -> list[list[str]]:
    """The texts of each snapshot after an operation."""
    found = (event for event in transcript.of(t.HistorySnapshot) if event.owner == "session" and event.after == after)
    return [[message.text for message in event.messages] for event in found]


# -- operations ------------------------------------------------------------------------------------------------------


def test_every_operation_is_recorded_with_what_is_held_after_it() -> None:
    transcript = run(
        on_toy(),
        talk(
            build_turn("one"),
            build_turn("two", before=("tamper",)),
            build_turn("three", revert=0),
            build_turn("four", before=("damaged-load", "save-load", "new-provider")),
            build_turn("five", before=("reset",)),
        ),
    )
    assert snapshot_texts(transcript, "tamper") == [["one", "Yes."]]
    assert snapshot_texts(transcript, "revert") == [["one", "Yes."]]
    assert (
        snapshot_texts(transcript, "save-load")
        == [["one", "Yes.", "three", "Yes."]]
        == snapshot_texts(transcript, "damaged-load")
    )
    assert snapshot_texts(transcript, "reset") == [[]]
    assert snapshot_texts(transcript, "turn")[-1] == ["five", "Yes."]
    assert [event.to for event in transcript.of(t.Reverted)] == [0]
    assert len(transcript.of(t.Reset)) == 1
    assert [event.operation for event in transcript.of(t.Refused)] == ["damaged-load"]
    assert [event.damaged for event in transcript.of(t.Loaded)] == [False]
    assert len(transcript.of(t.Saved)) == 2


def test_an_operation_that_refuses_is_on_record_and_the_run_goes_on() -> None:
    transcript = run(on_toy(), talk(build_turn("one"), build_turn("two", revert=7)))
    (refused,) = transcript.of(t.Refused)
    assert (refused.operation, refused.error) == ("revert", "UsageError")
    assert "there is no turn 7" in refused.message
    assert transcript.of(t.Reverted) == []
    assert transcript.end.how == "completed"


def test_what_a_session_lacks_is_refused_by_name() -> None:
    transcript = run(
        on_toy(reset=None, revert=None), talk(build_turn("one"), build_turn("two", before=("reset",), revert=0))
    )
    assert [(one.operation, one.error) for one in transcript.of(t.Refused)] == [
        ("reset", "NotImplementedError"),
        ("revert", "NotImplementedError"),
    ]
    assert "'reference' has no reset" in transcript.of(t.Refused)[0].message


def test_a_damaged_session_that_loads_is_told_and_not_gone_on_with() -> None:
    forgiving = on_toy(load=lambda setup, saved: REFERENCE.open(setup))
    transcript = run(forgiving, talk(build_turn("one"), build_turn("two", before=("damaged-load",))))
    assert [(event.damaged, event.messages) for event in transcript.of(t.Loaded)] == [(True, ())]
    assert snapshot_texts(transcript, "damaged-load") == [["one", "Yes."]]


def test_a_list_that_was_emptied_is_filled_again_before_the_next_turn() -> None:
    own: list[Message] = []

    def history(session: Any) -> list[Message]:
        if len(own) < len(session.history):
            own[:] = session.history.messages
        return own

    transcript = run(on_toy(history=history), talk(build_turn("one"), build_turn("two", before=("tamper",))))
    assert snapshot_texts(transcript, "turn")[-1] == ["one", "Yes.", "two", "Yes."]


NO_MESSAGE = (
    "history() has a {} at index {} instead of a Message: the binding has to translate what its session holds into "
    "turnproof.messages.Message"
)
NO_LIST = "history() returned {} instead of a list of Messages"


@pytest.mark.parametrize(
    ("history", "message"),
    [
        (lambda session: ["Hi"], NO_MESSAGE.format("str", 0)),
        (lambda session: [Message.user("Hi"), {"role": "assistant"}], NO_MESSAGE.format("dict", 1)),
        (lambda session: [SimpleNamespace(role="user")], NO_MESSAGE.format("SimpleNamespace", 0)),
        (lambda session: {"messages": []}, NO_LIST.format("dict")),
        (lambda session: "user: Hi", NO_LIST.format("str")),
        (lambda session: None, NO_LIST.format("NoneType")),
        # It could be read once only, and would be empty for whoever asks next.
        (lambda session: iter(session.history.messages), NO_LIST.format("list_iterator")),
    ],
    ids=["texts", "dicts", "objects", "state", "text", "nothing", "iterator"],
)
def test_a_history_in_the_form_of_another_framework_is_refused_by_name(history: Any, message: str) -> None:
    transcript = run(on_toy(history=history), talk(build_turn("one")))
    assert transcript.of(t.HistorySnapshot) == []
    assert {(one.operation, one.message) for one in transcript.of(t.Refused)} == {("history", message)}


def test_a_save_that_is_no_text_is_refused() -> None:
    transcript = run(
        on_toy(save=lambda session: b"bytes"), talk(build_turn("one"), build_turn("two", before=("save-load",)))
    )
    assert [(one.operation, one.message) for one in transcript.of(t.Refused)] == [
        ("save-load", "save() returned bytes instead of text")
    ]


def test_usage_is_asked_for_after_an_answer() -> None:
    transcript = run(
        on_toy(), talk(build_turn("one"), build_turn("two", cancel=Cut("before-start"), expect="cancelled"))
    )
    assert [(event.turn, event.usage.prompt_tokens > 0) for event in transcript.of(t.UsageReport)] == [(0, True)]


def test_a_usage_that_cannot_be_told_is_refused() -> None:
    def broken(session: Any) -> Any:
        raise KeyError("tokens")

    assert [one.operation for one in run(on_toy(usage=broken), talk(build_turn("one"))).of(t.Refused)] == ["usage"]


def test_context_is_asked_for_after_every_step() -> None:
    sizes = itertools.count(7)
    turns = build_turn("one"), build_turn("two", before=("reset",), cancel=Cut("before-start"), expect="cancelled")
    transcript = run(on_toy(context=lambda session: next(sizes), reset=lambda session: None), talk(*turns))
    assert [(event.turn, event.tokens) for event in transcript.of(t.ContextReport)] == [(0, 7), (1, 8), (1, 9)]
    event_kinds = kinds(transcript)
    assert all(event_kinds[n + 1] == "HistorySnapshot" for n, kind in enumerate(event_kinds) if kind == "ContextReport")


@pytest.mark.parametrize("account", [0.5, True, None])
def test_a_context_that_is_no_number_of_tokens_is_refused(account: Any) -> None:
    transcript = run(on_toy(context=lambda session: account), talk(build_turn("one")))
    assert transcript.of(t.ContextReport) == []
    (refused,) = transcript.of(t.Refused)
    assert (refused.operation, refused.message) == (
        "context",
        f"context() returned {type(account).__name__} instead of a number of tokens",
    )


def test_a_session_that_returns_no_reply_fails_its_turn() -> None:
    transcript = run(on_toy(send=lambda session, text, turn: "Yes."), talk(build_turn("one")))
    assert [event.outcome for event in transcript.of(t.TurnEnded)] == ["error"]
    assert "returned str, not a SessionReply" in transcript.of(t.Failed)[0].message


def test_a_session_is_closed_at_the_end_and_may_fail_at_that() -> None:
    def close(session: Any) -> None:
        raise RuntimeError("still busy")

    transcript = run(on_toy(close=close), talk(build_turn("one")))
    assert [(one.operation, one.message) for one in transcript.of(t.Refused)] == [("close", "still busy")]
    assert transcript.end.how == "completed"


def test_a_session_that_cannot_be_opened_is_reported_as_such() -> None:
    def broken(setup: Any) -> Any:
        raise RuntimeError("no licence")

    end = run(on_toy(open=broken), talk(build_turn("one"))).end
    assert (end.how, end.detail) == ("open-failed", "RuntimeError: no licence")


# -- stopping --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binding", [replace(REFERENCE, adapter="anthropic"), FOREIGN], ids=["reference", "framework"])
def test_a_session_is_stopped_from_outside(binding: SessionBinding) -> None:
    transcript = run(binding, load(SCENARIOS / "history/stopped.yaml"))
    assert [event.stopped for event in transcript.of(t.Cancelled)] == [True, True]
    assert [event.outcome for event in transcript.of(t.TurnEnded)] == ["cancelled", "answer", "cancelled", "answer"]
    shown = transcript.of(t.TurnEnded)[0].shown
    assert shown == "There are twelve "
    assert snapshot_texts(transcript, "turn")[0] == ["Tell me about the beds.", shown]


def test_a_stop_that_raises_is_on_record() -> None:
    def stop(session: Any) -> None:
        REFERENCE.stop(session)  # type: ignore[misc]
        raise RuntimeError("too late")

    transcript = run(replace(REFERENCE, stop=stop), load(SCENARIOS / "history/stopped.yaml"))
    assert {(one.operation, one.message) for one in transcript.of(t.Refused)} == {("stop", "too late")}


# -- a session with a provider of its own ----------------------------------------------------------------------------


def test_a_session_that_opens_its_own_provider_shows_the_wire_and_no_calls() -> None:
    transcript = run(FOREIGN, talk(build_turn("one"), build_turn("two")))
    assert transcript.of(t.CallBegan) == []
    assert kinds(transcript) == [
        *["TurnBegan", "WireRequest", "WireResponse", "Chunk", "Chunk"],
        *["TurnEnded", "UsageReport", "HistorySnapshot", "TurnBegan", "WireRequest", "WireResponse", "Chunk", "Chunk"],
        *["TurnEnded", "UsageReport", "HistorySnapshot", "RunEnded"],
    ]
    assert {event.call for event in transcript.of(t.WireRequest)} == {-1}
    assert [event.turn for event in transcript.of(t.WireRequest)] == [0, 1]


def test_requests_stand_where_they_were_made() -> None:
    """Those of an operation come before the turn that follows it."""

    def reset(handle: Any) -> None:
        handle.chat.say("Forget it.")
        handle.chat.lines.clear()

    transcript = run(replace(FOREIGN, reset=reset), talk(build_turn("one"), build_turn("two", before=("reset",))))
    turn = [type(event) for event in transcript.events if event.turn == 1]
    assert turn[:5] == [t.WireRequest, t.WireResponse, t.Reset, t.HistorySnapshot, t.TurnBegan]


def test_the_same_seed_gives_the_same_digest_of_a_session() -> None:
    scenario = load(SCENARIOS / "history/saved.yaml")
    first, second = (run(replace(REFERENCE, adapter="anthropic"), scenario) for _ in range(2))
    assert digest(first) == digest(second)


@pytest.mark.parametrize("keeps_ids", [True, False])
def test_what_is_loaded_says_whether_its_ids_are_the_sessions_own(keeps_ids: bool) -> None:
    binding = replace(FOREIGN, message_ids=keeps_ids)
    loaded = run(binding, load(SCENARIOS / "history/saved.yaml")).of(t.Loaded)
    assert [event.message_ids for event in loaded] == [keeps_ids] * len(loaded)
    assert loaded


# -- paths and the flag ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["stateless", "legacy"])
def test_a_session_says_which_path_it_was_put_on(path: str) -> None:
    transcript = run(replace(REFERENCE, adapter="anthropic"), talk(build_turn("one")), path)
    assert [event.path for event in transcript.of(t.SessionOpened)] == [path]
    owners = [event.owner for event in transcript.of(t.HistorySnapshot)]
    assert owners == (["session", "provider"] if path == "legacy" else ["session"])


@pytest.mark.parametrize(("value", "path"), [("on", "stateless"), ("off", "legacy"), (None, "legacy")])
def test_a_session_chooses_its_path_by_its_flag(value: str | None, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flag = Flag("MY_FLAG")
    monkeypatch.delenv(flag.variable, raising=False)
    if value is not None:
        monkeypatch.setenv(flag.variable, value)
    seen: list[Any] = []

    def opened(setup: Any) -> Any:
        seen.append((setup.path, setup.flag))
        return REFERENCE.open(setup)

    transcript = run(replace(REFERENCE, adapter="anthropic", open=opened), talk(build_turn("one")), path, flag=flag)
    assert seen == [(None, flag)]
    assert [event.path for event in transcript.of(t.SessionOpened)] == [path]


def test_a_provider_of_a_path_that_the_adapter_lacks_is_the_harness_to_blame() -> None:
    def opened(setup: Any) -> Any:
        return setup.open_provider("legacy")

    assert run(on_toy(open=opened), talk(build_turn("one"))).end.how == "harness-fault"


def test_a_message_of_several_parts_needs_send_parts() -> None:
    both = Turn(user=(Text("one"), Text("two")), rounds=build_turn("x").rounds)
    seen: list[Any] = []

    def send_parts(handle: Any, parts: Any, turn: Any) -> SessionReply:
        seen.extend(part.text for part in parts)
        return SessionReply("")

    run(replace(BARE, send_parts=send_parts), talk(both))
    assert seen == ["one", "two"]
    assert "has no send_parts" in run(BARE, talk(both)).of(t.Failed)[0].message


def test_system_text_and_tools_reach_a_session_that_can_be_configured() -> None:
    scenario = load(SCENARIOS / "tools/appear_change_vanish.yaml")
    requests = run(FOREIGN, scenario).of(t.WireRequest)
    declared = [[tool.name for tool in scenario.tools_in(one.turn)] for one in requests]
    assert [[tool["name"] for tool in one.body.get("tools", ())] for one in requests] == declared


def test_a_session_that_waits_without_a_word_is_cancelled_in_its_wait() -> None:
    """The framework calls the setup's `sleep`, and never `on_retry`."""
    transcript = run(FOREIGN, load(SCENARIOS / "cancel" / "in_backoff.yaml"))
    turn = [event for event in transcript.events if event.turn == 1]
    assert [event.outcome for event in turn if isinstance(event, t.TurnEnded)] == ["cancelled"]
    assert len([event for event in turn if isinstance(event, t.WireRequest)]) == 1
    assert len([event for event in turn if isinstance(event, t.Cancelled)]) == 1
