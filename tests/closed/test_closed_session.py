"""The closed pair shows what a session that opens its own provider can show, and what is broken inside is found."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

import turnproof_suites
from turnproof.commands.certify.mutants import mutants
from turnproof.commands.certify.options import MutantsOptions
from turnproof.messages import FinishReason, FunctionCall, TokenUsage
from turnproof.run import transcript as t
from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import digest
from turnproof.scenarios import load
from turnproof.subject import SessionBinding, SessionReply, SessionTurn

from .sessions import CLOSED_OPENAI

pytestmark = pytest.mark.usefixtures("forked_workers")

SCENARIOS = Path(next(iter(turnproof_suites.__path__))) / "scenarios"


def run(scenario: str, binding: SessionBinding = CLOSED_OPENAI, mode: str = "stream") -> t.Transcript:
    found = load(SCENARIOS / f"{scenario}.yaml")
    with Runner(in_process=True, bindings={"subject": binding}) as runner:
        return runner.run(RunSpec("subject", found, t.RunKey(found.name, "stateless", mode)))  # type: ignore[arg-type]


def kinds(transcript: t.Transcript, turn: int) -> list[str]:
    return [type(event).__name__ for event in transcript.events if event.turn == turn]


def test_what_is_shown_stands_behind_the_request_that_it_answers() -> None:
    turn = [one for one in kinds(run("tools/one"), 0) if one not in ("Chunk", "UsageUpdate", "SpanMade")]
    assert turn[: turn.index("TurnEnded")] == [
        *["TurnBegan", "WireRequest", "WireResponse", "FunctionCallDetected"],
        *["WireRequest", "WireResponse"],
    ]


def test_a_turn_ends_with_the_answer_that_the_session_gave() -> None:
    transcript = run("tools/one")
    assert all(event.probe for event in transcript.of(t.CallBegan, t.Response))
    answer = transcript.of(t.TurnEnded)[0].answer
    assert answer is not None
    assert answer.finish_reason is FinishReason.STOP


def test_the_same_seed_gives_the_same_digest() -> None:
    assert digest(run("tools/one")) == digest(run("tools/one"))


def test_the_reason_of_a_wait_is_on_record_with_all_that_it_says() -> None:
    (retried, *_) = run("faults/rate_limited").of(t.Retried)
    assert retried.failure is not None
    assert (retried.failure.error, retried.failure.status) == ("RateLimitError", 429)
    assert retried.failure.retry_after


def test_what_was_said_is_said_again_by_sessions_that_hold_the_same() -> None:
    transcript = run("basics/four_turns", mode="batch")
    first = [event.digest for event in transcript.of(t.WireRequest) if not event.probe]
    for probe in ("fresh", "reversed", "threads"):
        again = [event.digest for event in transcript.of(t.WireRequest) if event.probe == probe]
        assert sorted(again) == sorted(first)
    broken = [event.broken for event in transcript.of(t.CallBegan) if event.probe == "broken"]
    assert {"blank-message", "message-without-parts"} <= set(broken)
    assert all(event.path is None for event in transcript.of(t.CallBegan))


def test_a_session_that_adopts_nothing_is_asked_nothing_again() -> None:
    assert not run("basics/four_turns", replace(CLOSED_OPENAI, adopt=None)).of(t.CallBegan)


def late(value: Any, name: str) -> SessionBinding:
    """A session that shows something when its turn is over already."""
    turns: list[SessionTurn] = []

    def send(session: Any, text: str, turn: SessionTurn) -> SessionReply:
        for before in turns:
            getattr(before, name)(value)
        turns.append(turn)
        return CLOSED_OPENAI.send(session, text, turn)

    return replace(CLOSED_OPENAI, send=send, send_parts=None)


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("on_chunk", ".", "chunk"),
        ("on_thinking", "Hm.", "thought"),
        ("on_function_call", FunctionCall("call_1", "read_sensor"), "function_call"),
        ("on_usage_update", TokenUsage(1, 1, 2), "usage"),
    ],
)
def test_what_is_shown_behind_the_end_of_a_turn_is_late(name: str, value: Any, kind: str) -> None:
    transcript = run("basics/four_turns", late(value, name))
    found = transcript.of(t.LateCallback)
    assert {event.kind for event in found} == {kind}
    assert {0, 1, 2} <= {event.turn for event in found}


def test_what_is_no_text_is_refused_by_name() -> None:
    def send(session: Any, text: str, turn: SessionTurn) -> SessionReply:
        assert turn.on_thinking is not None
        turn.on_thinking(None)  # type: ignore[arg-type]
        return SessionReply("")

    (failed, *_) = run("basics/plain", replace(CLOSED_OPENAI, send=send)).of(t.Failed)
    assert failed.error == "ContractError"
    assert failed.message.startswith("on_thinking was called with None instead of str: pass the text of the thought")


def test_a_reply_whose_response_is_none_of_ours_is_refused_by_name() -> None:
    def send(session: Any, text: str, turn: SessionTurn) -> SessionReply:
        return SessionReply("Yes.", response={"text": "Yes."})  # type: ignore[arg-type]

    (failed, *_) = run("basics/plain", replace(CLOSED_OPENAI, send=send)).of(t.Failed)
    assert failed.message == "the session's reply has dict as its `response`, not a ProviderResponse"


def test_a_cancel_stands_in_front_of_what_is_shown_after_it() -> None:
    transcript = run("cancel/in_one_write")
    before = list(takewhile(lambda event: not isinstance(event, t.Cancelled), transcript.events))
    chunks = [event for event in transcript.of(t.Chunk) if event.turn == 0]
    assert [event for event in before if isinstance(event, t.Chunk)] == chunks


FOUND = (
    "finish-always-stop",  # by the reply's response
    "calls-announced-twice",  # by what is shown
    "overload-is-final",  # by the reasons of waits
    "retries-stacked",  # by the requests between two waits
    "idle-connection-trusted",  # by a wait in front of the first request
    "longest-conversation-wins",  # by what is said again
    "address-cut-at-the-host",  # by how the turn failed
)


def test_what_is_broken_inside_is_found_by_what_the_session_shows(tmp_path: Path) -> None:
    names = [f"tests.closed.inside:openai__{name.upper().replace('-', '_')}" for name in FOUND]
    options = MutantsOptions(adapter="tests.closed.sessions:CLOSED_OPENAI", only=tuple(names), out=tmp_path, json=True)
    mutants(options)
    rows = json.loads((tmp_path / "mutants.json").read_text())["mutants"]
    assert {row["mutant"]: row["outcome"] for row in rows} == dict.fromkeys(FOUND, "caught")
