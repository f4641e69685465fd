"""Runs that go wrong in every way an adapter can make them, and that still leave a readable transcript."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from turnproof.run.driver import Runner, RunSpec, worker_pool
from turnproof.run.evidence import digest
from turnproof.run.transcript import (
    CallBegan,
    Chunk,
    Failed,
    HistorySnapshot,
    LateCallback,
    Response,
    RunKey,
    Transcript,
    TurnEnded,
    WireRequest,
    WireResponse,
)
from turnproof.wire.emulator.server_run import CANARY_KEY

from .silence import silent_once
from .talks import scenario

HERE = str(Path(__file__).parent)


def spec(toy: str, *answers: str, mode: str = "stream", **options: str) -> RunSpec:
    script = scenario(*(answers or ("first answer", "second answer")), **options)
    return RunSpec(f"toys:{toy}", script, RunKey(script.name, "stateless", mode))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def talk(runner: Runner) -> Transcript:
    return runner.run(spec("PLAIN"))


def test_a_run_has_both_sides_of_every_call_in_order(talk: Transcript) -> None:
    turn = [type(event) for event in talk.events if event.turn == 1]
    expected = [CallBegan, WireRequest, WireResponse, Chunk, Response]
    start = turn.index(CallBegan)
    assert turn[start : start + 5] == expected
    assert talk.end.how == "completed"


def test_the_second_request_carries_the_first_turn(talk: Transcript) -> None:
    body = talk.of(WireRequest)[1].body
    assert [message["content"] for message in body["messages"]] == ["question 0", "first answer", "question 1"]


def test_the_session_holds_what_was_said(talk: Transcript) -> None:
    last = talk.of(HistorySnapshot)[-1]
    assert [message.text for message in last.messages] == ["question 0", "first answer", "question 1", "second answer"]


def test_the_same_seed_gives_the_same_digest(runner: Runner, talk: Transcript) -> None:
    assert digest(runner.run(spec("PLAIN"))) == digest(talk)


def test_one_changed_character_of_the_script_changes_the_digest(runner: Runner, talk: Transcript) -> None:
    assert digest(runner.run(spec("PLAIN", "first answer", "second answer!"))) != digest(talk)


@pytest.fixture
def impatient_runner(runner: Runner) -> Iterator[Runner]:
    """A runner that takes less than the usual twenty seconds of silence for a hung adapter."""
    with Runner(jobs=1, time_limit=4.0) as opened:
        yield opened


def test_an_adapter_that_hangs_is_reported_as_hung_and_the_next_run_goes_on(
    impatient_runner: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = impatient_runner
    hangs = tmp_path / "hangs"
    with monkeypatch.context() as patched:
        patched.setattr(worker_pool, "poller", silent_once(hangs.exists))
        hung = runner.run(spec("HANGS", hangs=str(hangs)))
    assert hung.end.how == "hung"
    assert "provider call 0" in hung.end.detail
    assert runner.run(spec("PLAIN")).end.how == "completed"


def test_an_adapter_that_kills_its_process_is_reported_and_the_next_run_goes_on(runner: Runner) -> None:
    assert runner.run(spec("DIES")).end.how == "died"
    assert runner.run(spec("PLAIN")).end.how == "completed"


def test_what_an_adapter_prints_is_captured_and_stays_off_our_output(
    runner: Runner, capfd: pytest.CaptureFixture[str]
) -> None:
    printed = runner.run(spec("PRINTS")).end.stdout
    assert printed.count("debug: sending") == 2
    assert "debug" not in capfd.readouterr().out


def test_what_asyncio_says_of_loops_is_not_printed_by_a_library_that_sends_logs_to_standard_output(
    runner: Runner,
) -> None:
    """The loops are turnproof's. What the library logs itself is printed."""
    end = runner.run(spec("LOGS_TO_OUTPUT")).end
    assert end.stdout == ""
    assert end.stderr.count("Task exception was never retrieved") == 2
    own = spec("LOGS_TO_OUTPUT")
    end = runner.run(replace(own, scenario=msgspec.structs.replace(own.scenario, options={"max_tokens": 9}))).end
    assert end.stdout.split("\n") == ["the answer is short", "the answer is short", ""]


def test_standard_error_is_told_apart_and_loggers_keep_their_levels_unless_the_application_debugs(
    runner: Runner, capfd: pytest.CaptureFixture[str]
) -> None:
    quiet = spec("WARNS")
    debugged = replace(quiet, scenario=msgspec.structs.replace(quiet.scenario, debug_logs=True))
    for each, lines in ((quiet, 0), (debugged, 2)):
        end = runner.run(each).end
        assert (end.stdout, end.stderr.count("the option is ignored")) == ("", 2)
        assert end.stderr.count("pages of it") == lines
    assert "toy" not in capfd.readouterr().err


def test_system_exit_of_an_adapter_is_a_failed_call_and_no_end_of_the_run(runner: Runner) -> None:
    transcript = runner.run(spec("EXITS"))
    failures = [event for event in transcript.of(Failed) if event.scope == "call"]
    assert [(event.error, event.typed) for event in failures] == [("SystemExit", False)] * 2
    assert transcript.end.how == "completed"


def test_an_adapter_that_returns_nothing_fails_as_such(runner: Runner) -> None:
    failure = runner.run(spec("NOTHING")).of(Failed)[0]
    assert (failure.error, failure.typed) == ("ContractError", False)
    assert "returned None" in failure.message


def test_a_binding_that_raises_on_open_is_reported_as_open_failed(runner: Runner) -> None:
    end = runner.run(spec("BROKEN")).end
    assert (end.how, end.detail) == ("open-failed", "RuntimeError: no such region")


def test_a_key_in_exceptions_and_logs_is_noted_and_kept_out_of_the_evidence(runner: Runner) -> None:
    import msgspec

    leaking = spec("LEAKS")
    leaking = replace(leaking, scenario=msgspec.structs.replace(leaking.scenario, debug_logs=True))
    transcript = runner.run(leaking)
    assert "log" in transcript.end.leaks
    assert any(place.startswith("Failed in turn") for place in transcript.end.leaks)
    assert CANARY_KEY.encode() not in msgspec.json.encode(transcript)


def test_a_callback_after_the_call_is_recorded_as_late(runner: Runner) -> None:
    late = runner.run(spec("LATE")).of(LateCallback)
    assert [event.kind for event in late] == ["chunk"]


def test_runs_side_by_side_give_the_transcripts_of_runs_one_by_one(talk: Transcript) -> None:
    sys.path.insert(0, HERE)
    found: list[str] = []
    try:
        with Runner(jobs=2) as runner:
            runner.run_all([spec("PLAIN") for _ in range(6)], lambda _, transcript: found.append(digest(transcript)))
    finally:
        sys.path.remove(HERE)
    assert found == [digest(talk)] * 6


def test_a_run_in_this_process_gives_the_transcript_of_a_run_in_a_worker(talk: Transcript) -> None:
    sys.path.insert(0, HERE)
    try:
        with Runner(in_process=True) as runner:
            assert digest(runner.run(spec("PLAIN"))) == digest(talk)
    finally:
        sys.path.remove(HERE)


def test_the_turn_ends_with_the_text_that_the_user_saw(talk: Transcript) -> None:
    assert [(end.outcome, end.shown) for end in talk.of(TurnEnded)] == [
        ("answer", "first answer"),
        ("answer", "second answer"),
    ]
