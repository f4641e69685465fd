"""A turn that is cancelled: what stays of it, and that the session can be gone on with."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import Cancelled
from turnproof.messages import FinishReason
from turnproof_adapters.claude_agent import live_program

from ..claude_troubles import write_program
from ..scripted_server import scripted
from .kit import Place, begins, call, conversation, says, sensor


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that takes longer to end a turn would be killed."""
    monkeypatch.setattr(live_program, "PATIENCE", 60.0)


def test_a_cancel_in_a_text_keeps_what_was_shown_and_the_session_goes_on(here: Place) -> None:
    token, shown = CancelToken(), []

    def stop(piece: str) -> None:
        shown.append(piece)
        token.cancel()

    with scripted(says("One."), begins("Two and", hangs=True), says("Three.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        session = agent.session_id
        answer = agent.send("2?", on_chunk=stop, cancel_token=token)
        history = [(message.role, message.text) for message in agent.history]
        assert agent.send("3?").text == "Three."
        went_on = conversation(api.requests[-1])
    assert (answer.text, answer.finish_reason) == ("Two and", FinishReason.CANCELLED)
    assert shown == ["Two and"]
    assert answer.usage.prompt_tokens == 3
    assert history == [("user", "1?"), ("model", "One."), ("user", "2?"), ("model", "Two and")]
    assert agent.session_id == session
    assert [text for role, text in went_on if role == "assistant"] == ["One.", "Two and"]
    assert "interrupted" not in "".join(message.text for message in agent.history)


def test_a_cancel_of_the_first_turn_leaves_a_session_to_go_on_with(here: Place) -> None:
    token = CancelToken()
    with scripted(begins("One", hangs=True), says("Two.")) as api:
        agent = here.agent(api.url)
        agent.send("1?", on_chunk=lambda piece: token.cancel(), cancel_token=token)
        session = agent.session_id
        agent.send("2?")
    assert session is not None
    assert agent.session_id == session
    assert [message.text for message in agent.history] == ["1?", "One", "2?", "Two."]


def test_a_cancel_while_tools_run_reaches_them_and_ends_the_turn(here: Place) -> None:
    token = CancelToken()
    seen = threading.Semaphore(0)

    def run(args: dict[str, Any], tool: CancelToken) -> str:
        token.cancel()
        if tool.wait(60):
            seen.release()
        tool.raise_if_cancelled()
        return "never"

    with scripted(says("Look:", call(bed="3"), call(bed="4")), says("Well.")) as api:
        agent = here.agent(api.url, sensor(run))
        answer = agent.send("Both?", cancel_token=token)
        assert (answer.text, answer.finish_reason, answer.calls) == ("Look:", FinishReason.CANCELLED, ())
        assert seen.acquire(timeout=60)
        assert len(api.requests) == 1
        assert agent.send("And?").text == "Well."
    assert [len(message.results) for message in agent.history] == [0, 0, 2, 0, 0]
    assert all(result.is_error for result in agent.history[2].results)


def test_a_cancel_before_anything_is_said_asks_nothing(here: Place) -> None:
    token = CancelToken()
    token.cancel()
    with scripted(says("One.")) as api:
        agent = here.agent(api.url)
        with pytest.raises(Cancelled):
            agent.send("1?", cancel_token=token)
        assert api.requests == []
        assert agent.send("1?").text == "One."
    assert len(agent.history) == 2


def test_a_cancel_while_the_program_starts_ends_it(here: Place, tmp_path: Path) -> None:
    started = tmp_path / "started"
    program = write_program(tmp_path, f"import pathlib, time\npathlib.Path({str(started)!r}).touch()\ntime.sleep(60)\n")
    token = CancelToken()

    def stop() -> None:
        while not started.exists():
            token.wait(0.01)
        token.cancel()

    agent = here.agent(program=program)
    thread = threading.Thread(target=stop)
    thread.start()
    with pytest.raises(Cancelled):
        agent.send("1?", cancel_token=token)
    thread.join()
    assert (agent.session_id, list(agent.history)) == (None, [])


def test_a_program_that_heeds_no_interrupt_is_killed_and_the_session_resumed(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_program, "PATIENCE", 0.5)
    token = CancelToken()

    with scripted(says("One."), begins("Two and", hangs=True), says("Three.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        session = agent.session_id
        assert agent._live is not None
        process = agent._live._child._process

        def stop(piece: str) -> None:
            process.send_signal(signal.SIGSTOP)
            token.cancel()

        answer = agent.send("2?", on_chunk=stop, cancel_token=token)
        assert (answer.text, answer.finish_reason) == ("Two and", FinishReason.CANCELLED)
        assert process.poll() is not None
        texts = [message.text for message in agent.history]
        assert texts in (["1?", "One.", "2?"], ["1?", "One."]), "what it has stored, and no more"
        assert agent.send("3?").text == "Three."
        went_on = [text for _, text in conversation(api.requests[-1])]
        assert (went_on[: len(texts)], went_on[-1]) == (texts, "3?")
    assert agent.session_id == session


def test_a_cancel_after_the_turn_changes_nothing(here: Place) -> None:
    token = CancelToken()
    with scripted(says("One."), says("Two.")) as api:
        agent = here.agent(api.url)
        agent.send("1?", cancel_token=token)
        token.cancel()
        assert agent.send("2?").text == "Two."
