"""Turns that fail: the error is typed, nothing of the turn stays, and the next one goes on in the same session."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from turnproof.cancel import CancelToken
from turnproof.errors import OverloadedError, ProviderError, TransportError, UsageError
from turnproof.messages import Text
from turnproof.wire.emulator.server_run import CANARY_KEY

from ..claude_troubles import refusals, strange_programs, write_program
from ..scripted_server import Exchange, scripted
from .kit import Place, begins, call, conversation, events, refuses, says, sensor


@refusals
def test_a_refusal_is_typed_and_leaves_nothing_of_its_turn(
    here: Place, status: int, kind: str, message: str, error: type[ProviderError]
) -> None:
    with scripted(says("One."), refuses(status, kind, message), says("Three.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        session = agent.session_id
        with pytest.raises(error) as raised:
            agent.send("2?")
        assert [text.text for text in agent.history] == ["1?", "One."]
        assert agent.send("3?").text == "Three."
        assert conversation(api.requests[-1]) == [("user", "1?"), ("assistant", "One."), ("user", "3?")]
        assert len(api.requests) == 3
    assert raised.value.status == status
    assert CANARY_KEY not in str(raised.value)
    assert agent.session_id == session
    agent.resume_session(str(session))
    assert [text.text for text in agent.history] == ["1?", "One.", "3?", "Three."]


def test_a_first_turn_that_fails_leaves_no_session(here: Place) -> None:
    with scripted(refuses(500, "api_error", "boom"), says("Two.")) as api:
        agent = here.agent(api.url)
        with pytest.raises(OverloadedError):
            agent.send("1?")
        assert (agent.session_id, list(agent.history), agent.list_sessions().sessions) == (None, [], ())
        agent.send("2?")
        assert conversation(api.requests[-1]) == [("user", "2?")]


def test_a_turn_that_fails_behind_its_calls_leaves_nothing_either(here: Place) -> None:
    with scripted(says("One."), says("Look:", call(bed="3")), refuses(500, "api_error", "boom"), says("Three.")) as api:
        agent = here.agent(api.url, sensor())
        agent.send("1?")
        with pytest.raises(OverloadedError) as raised:
            agent.send("2?")
        assert raised.value.partial == (Text("Look:"),)
        agent.send("3?")
        assert conversation(api.requests[-1]) == [("user", "1?"), ("assistant", "One."), ("user", "3?")]
    assert [message.text for message in agent.history] == ["1?", "One.", "3?", "Three."]


def test_a_stream_that_breaks_off_is_an_error_and_its_text_is_not_told_twice(here: Place) -> None:
    shown: list[str] = []
    with scripted(begins("Monday", hangs=False), says("Monday again.")) as api:
        agent = here.agent(api.url)
        with pytest.raises(TransportError) as raised:
            agent.send("1?", on_chunk=shown.append)
        assert len(api.requests) == 1
    assert shown == ["Monday"]
    assert raised.value.partial == (Text("Monday"),)


def test_an_overload_in_mid_stream_is_typed(here: Place) -> None:
    overload_event = (
        b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    )

    def breaks(exchange: Exchange) -> None:
        exchange.stream(*events("Monday")[:3], overload_event)

    with scripted(breaks) as api, pytest.raises(OverloadedError):
        here.agent(api.url).send("1?")


def test_what_a_callback_raises_passes_through_and_the_turn_leaves_nothing(here: Place) -> None:
    def fails(piece: str) -> None:
        raise KeyError("mine")

    with scripted(says("One."), begins("Two and", hangs=True), says("Three.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        with pytest.raises(KeyError, match="mine"):
            agent.send("2?", on_chunk=fails)
        agent.send("3?")
        assert conversation(api.requests[-1]) == [("user", "1?"), ("assistant", "One."), ("user", "3?")]


def test_a_program_that_is_killed_in_a_turn_is_an_error_and_the_next_turn_resumes(here: Place) -> None:
    def kill(piece: str) -> None:
        assert agent._live is not None
        os.killpg(agent._live._child._process.pid, signal.SIGKILL)

    with scripted(says("One."), begins("Two and", hangs=True), says("Three.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        session = agent.session_id
        with pytest.raises(TransportError, match="SIGKILL") as raised:
            agent.send("2?", on_chunk=kill)
        assert raised.value.partial == (Text("Two and"),)
        assert [message.text for message in agent.history] == ["1?", "One."]
        agent.send("3?")
        assert conversation(api.requests[-1]) == [("user", "1?"), ("assistant", "One."), ("user", "3?")]
    assert agent.session_id == session


def test_a_program_that_is_killed_between_turns_is_started_again(here: Place) -> None:
    with scripted(says("One."), says("Two.")) as api:
        agent = here.agent(api.url)
        agent.send("1?")
        assert agent._live is not None
        process = agent._live._child._process
        process.kill()
        process.wait()
        agent.send("2?")
        assert conversation(api.requests[-1]) == [("user", "1?"), ("assistant", "One."), ("user", "2?")]


def test_a_program_that_falls_silent_is_lost(here: Place) -> None:
    with scripted(begins("One", hangs=True)) as api:
        agent = here.agent(api.url, timeout=2)
        with pytest.raises(TransportError, match="has said nothing for 2 s"):
            agent.send("1?")
        assert agent._live is None


def test_tools_of_a_turn_that_is_lost_are_told(here: Place) -> None:
    tokens: list[CancelToken] = []

    def run(args: dict[str, Any], token: CancelToken) -> str:
        tokens.append(token)
        assert agent._live is not None
        os.killpg(agent._live._child._process.pid, signal.SIGKILL)
        return "41 %" if token.wait(60) else "nobody told"

    with scripted(says(call(bed="3"))) as api:
        agent = here.agent(api.url, sensor(run))
        with pytest.raises(TransportError):
            agent.send("1?")
    assert [token.is_cancelled for token in tokens] == [True]


# -- programs that are none -------------------------------------------------------------------------------------------


@strange_programs
def test_a_program_that_does_something_else_is_a_typed_error(
    here: Place, tmp_path: Path, source: str, message: str
) -> None:
    program = write_program(tmp_path, source)
    agent = here.agent(program=program, timeout=0.3 if "sleep" in source else 60)
    with pytest.raises(TransportError, match=message) as raised:
        agent.send("1?")
    assert CANARY_KEY not in repr(raised.value)
    assert (agent.session_id, list(agent.history)) == (None, [])


def test_a_result_without_an_answer_is_no_success(here: Place, tmp_path: Path) -> None:
    program = write_program(
        tmp_path,
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    said = json.loads(line)\n"
        "    if said['type'] == 'user':\n"
        "        print(json.dumps({'type': 'result', 'subtype': 'success', 'result': 'quota'}), flush=True)\n"
        "    else:\n"
        "        answer = {'subtype': 'success', 'request_id': said['request_id']}\n"
        "        print(json.dumps({'type': 'control_response', 'response': answer}), flush=True)\n",
    )
    with pytest.raises(TransportError, match="without an answer: quota"):
        here.agent(program=program).send("1?")


def test_settings_that_cannot_be_used_are_told_when_it_is_opened(here: Place, tmp_path: Path) -> None:
    plain = tmp_path / "claude"
    plain.write_text("")
    with pytest.raises(UsageError, match="install it"):
        here.agent(program=str(tmp_path / "none"))
    with pytest.raises(UsageError, match="not executable"):
        here.agent(program=str(plain))
    with pytest.raises(UsageError, match=r"cwd: .* is no folder"):
        here.agent(cwd=tmp_path / "nowhere")
    with pytest.raises(UsageError, match="max_tokens"):
        here.agent(max_tokens=0)
    here.home = plain
    with pytest.raises(UsageError, match=r"home: .* cannot be made"):
        here.agent()


def test_the_program_sees_no_key_but_its_own(here: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    program = write_program(
        tmp_path, "import os, sys\nsys.exit(' '.join([*sorted(os.environ), os.environ['HOME'], *sys.argv]))"
    )
    with pytest.raises(TransportError, match="ANTHROPIC_API_KEY") as raised:
        here.agent(program=program).send("1?")
    assert str(here.home) in str(raised.value)
    assert "OPENAI" not in str(raised.value)
    assert "BEDROCK" not in str(raised.value)
