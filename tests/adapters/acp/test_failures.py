"""What goes wrong with a program, its model or its process: typed, quick, and never the end of the session."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from acp import RequestError

from turnproof import errors
from turnproof.cancel import CancelToken
from turnproof.messages import FinishReason, FunctionCall
from turnproof_adapters.acp import process as ending
from turnproof_adapters.acp.failures import typed_error

from ..emulated_conversation import QUESTIONS
from .bound import STANDIN
from .kit import Bench, roles_and_texts, standin_only


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a program that has closed its output and takes longer to end nobody could say how it has ended."""
    monkeypatch.setattr(ending, "GRACE", 60.0)


def group_of(agent: Any) -> int:
    return int(agent._link.running.process.pid)


class Kill:
    """Kills a program as soon as it shows a call, which is not answered before: no turn is over by then."""

    def __init__(self) -> None:
        self._done = threading.Event()

    def run(self, args: dict[str, Any], token: CancelToken) -> str:
        assert self._done.wait(60)
        return "41 %"

    def of(self, agent: Any) -> Callable[[FunctionCall], None]:
        """The listener. By the second of two calls the program may be gone."""

        def kill(call: FunctionCall) -> None:
            if (running := agent._link.running) is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(running.process.pid, signal.SIGKILL)
            self._done.set()

        return kill


def prompts(at: Bench) -> int:
    """How many the stand-in was given so far."""
    prompt_log = at.home / ".standin" / "prompts"
    return len(prompt_log.read_bytes().splitlines()) if prompt_log.exists() else 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_program_that_is_killed_between_turns_is_started_again_in_its_session(at: Bench, number: int) -> None:
    agent = at.open()
    at.say(agent, 1)
    session, history = agent.session_id, roles_and_texts(agent.history)
    program = psutil.Process(group_of(agent))
    os.killpg(program.pid, number)
    psutil.wait_procs([program], timeout=60)
    try:
        assert at.say(agent, 2).text == "Good night."
    except errors.TransportError:  # it was not yet known to be gone
        assert at.say(agent, 2).text == "Good night."
    assert agent.session_id == session
    assert roles_and_texts(agent.history)[: len(history)] == history


def test_a_program_that_is_killed_in_a_turn_fails_it_and_the_next_goes_on_in_the_session(at: Bench) -> None:
    kill = Kill()
    agent = at.open(run=kill.run)
    at.say(agent, 1)
    session, history = agent.session_id, roles_and_texts(agent.history)
    with pytest.raises(errors.TransportError):
        at.say(agent, 0, on_function_call=kill.of(agent))
    assert roles_and_texts(agent.history) == history
    assert at.say(agent, 2).text == "Good night."
    assert agent.session_id == session
    assert roles_and_texts(agent.history) == [*history, ("user", QUESTIONS[2]), ("model", "Good night.")]


def test_a_program_that_is_killed_in_its_first_turn_fails_it_and_the_next_is_answered(at: Bench) -> None:
    kill = Kill()
    agent = at.open(run=kill.run)
    with pytest.raises(errors.TransportError):
        at.say(agent, 0, on_function_call=kill.of(agent))
    assert list(agent.history) == []
    assert at.say(agent, 2).text == "Good night."


def test_nothing_of_the_program_is_left_after_shutdown(at: Bench) -> None:
    agent = at.open()
    at.say(agent, 0)
    started = psutil.Process(group_of(agent))
    family = [started, *started.children(recursive=True)]
    agent.shutdown()
    assert [each for each in family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE] == []


def test_no_foreign_key_reaches_the_program_and_its_own_is_in_no_command_line(
    at: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "foreign")
    agent = at.open()
    at.say(agent, 1)
    program = psutil.Process(group_of(agent))
    for each in [program, *program.children(recursive=True)]:
        assert "OTHER_API_KEY" not in each.environ()
        assert each.environ()["HOME"] == str(at.home)
        assert not any("CANARY" in word or agent._setup.endpoint.api_key in word for word in each.cmdline())


def test_a_program_that_is_not_there_is_told_with_what_to_do(at: Bench) -> None:
    with pytest.raises(errors.UsageError, match=r"no program 'no-such-agent': install it \(npm install"):
        at.open(program="no-such-agent")
    with pytest.raises(errors.UsageError, match="not executable"):
        at.open(program=str(Path(__file__)))


def test_a_folder_that_is_missing_is_not_blamed_on_the_program(at: Bench) -> None:
    agent = at.open()
    at.cwd.rmdir()
    with pytest.raises(errors.UsageError, match=f"cannot be run in {at.cwd}"):
        at.say(agent, 1)


# -- with the stand-in alone ------------------------------------------------------------------------------------------


@standin_only
def test_a_program_that_dies_says_how_and_what_it_told_last(at: Bench) -> None:
    agent = at.open("--die", "1")
    with pytest.raises(errors.TransportError, match="ended with exit code 3") as failure:
        at.say(agent, 1)
    assert "".join(part.text for part in failure.value.partial) == "I "  # type: ignore[attr-defined]
    assert list(agent.history) == []
    assert at.say(agent, 2).text == "Good night."


@standin_only
def test_a_program_that_hangs_is_given_up_after_its_silence(at: Bench) -> None:
    agent = at.open("--hang", "2")
    at.say(agent, 1)
    running = agent._link.running
    assert running is not None
    running._silence = 1.5  # of this run alone: however slow the machine is, the next one starts in time
    with pytest.raises(errors.TransportError, match=r"has said nothing for 1\.5 s"):
        at.say(agent, 1)
    assert prompts(at) == 2
    assert at.say(agent, 2).text == "Good night."


@standin_only
def test_a_program_that_never_greets_is_given_up(at: Bench) -> None:
    agent = at.open("--mute", options={"timeout": 0.5})
    with pytest.raises(errors.TransportError, match="has said nothing"):
        at.say(agent, 1)


@standin_only
def test_a_program_that_does_not_heed_a_cancel_is_killed_and_the_session_goes_on(
    at: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnproof_adapters.acp.restarting_program.PATIENCE", 0.2)
    token = CancelToken()
    agent = at.open("--hang", "2")
    at.say(agent, 1)
    session = agent.session_id

    def cancel() -> None:
        """In the middle of the prompt: one that is cancelled before is not sent."""
        while prompts(at) < 2:
            token.wait(0.01)
        token.cancel()

    cancelling = threading.Thread(target=cancel, daemon=True)
    cancelling.start()
    assert at.say(agent, 1, cancel_token=token).finish_reason is FinishReason.CANCELLED
    cancelling.join(60)
    assert at.say(agent, 2).text == "Good night."
    assert agent.session_id == session


@standin_only
def test_a_program_that_stays_when_its_input_ends_is_ended_and_so_is_what_it_has_started(at: Bench) -> None:
    agent = at.open("--deaf", "--orphan")
    at.say(agent, 1)
    orphan = psutil.Process(int((at.home / ".standin" / "orphan").read_text()))
    assert orphan.is_running()
    agent.shutdown()
    assert not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE


def test_the_end_is_that_of_all_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, looks = ending._is_there, iter(range(3))
    monkeypatch.setattr(ending, "_is_there", lambda one: next(looks, None) is not None or real(one))

    async def main() -> psutil.Process:
        source = (
            "import subprocess, time\n"
            "child = subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
            "print('{\"pid\": %d}' % child.pid, flush=True)\n"
            "time.sleep(600)"
        )
        process = await ending.Process.start([sys.executable, "-S", "-c", source], {}, tmp_path, str)
        message = await process.receive()
        assert message is not None
        started = psutil.Process(message["pid"])
        await process.end(0)
        return started

    started = asyncio.run(main())
    assert next(looks, None) is None
    assert not started.is_running() or started.status() == psutil.STATUS_ZOMBIE


SILENT = "has said nothing for 0.5 s"
ANSWER = """
import json, sys
asked = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], %s}), flush=True)
sys.stdin.read()
"""


@standin_only
@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("print('Hello! What can I do for you?')", errors.TransportError, "ended with exit code 0"),
        ("import sys; sys.exit('no such flag')", errors.TransportError, "exit code 1; on stderr: no such flag"),
        ("pass", errors.TransportError, "ended with exit code 0"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", errors.TransportError, "was ended by SIGKILL"),
        ("for n in range(20_000): print('chatter')", errors.TransportError, "ended with exit code 0"),
        ('for n in range(20_000): print(\'{"method": "chatter"}\')', errors.TransportError, "ended with exit code 0"),
        ("print('y' * 3_000_000)", errors.TransportError, "ended with exit code 0"),
        (
            ANSWER % "'result': {'protocolVersion': 2}",
            errors.UsageError,
            "speaks version 2 of the Agent Client Protocol",
        ),
        (ANSWER % "'result': {}", errors.UsageError, "speaks no version of the Agent Client Protocol"),
        (ANSWER % "'result': ['none']", errors.UsageError, "speaks no version of the Agent Client Protocol"),
        (ANSWER % "'result': {'protocolVersion': 1}", errors.TransportError, SILENT),
        (ANSWER % "'error': {'code': -32603, 'message': 'too old'}", errors.TransportError, "too old"),
    ],
    ids=[
        "greets",
        "refuses flags",
        "says nothing",
        "is killed",
        "babbles",
        "chatters",
        "writes one long line",
        "speaks another version",
        "says nothing of itself",
        "answers in another shape",
        "falls silent behind its greeting",
        "refuses to be greeted",
    ],
)
def test_a_program_that_is_no_such_agent_is_a_typed_error(
    at: Bench, source: str, kind: type[errors.TurnproofError], message: str
) -> None:
    agent = at.open(program=[STANDIN[0], "-c", source], options={"timeout": 0.5 if message == SILENT else 60.0})
    with pytest.raises(kind, match=message):
        at.say(agent, 1)
    assert list(agent.history) == []


@standin_only
def test_what_a_program_says_last_shows_no_key(at: Bench) -> None:
    script = "import os, sys; sys.exit('the key is ' + os.environ['ANTHROPIC_API_KEY'])"
    agent = at.open(program=[STANDIN[0], "-c", script])
    with pytest.raises(errors.TransportError, match=r"exit code 1; on stderr: the key is \*\*\*"):
        at.say(agent, 1)


@standin_only
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, errors.AuthenticationError),
        (400, errors.InvalidRequestError),
        (429, errors.RateLimitError),
        (529, errors.OverloadedError),
        (500, errors.OverloadedError),
    ],
)
def test_what_the_program_says_of_its_models_refusal_is_typed(
    at: Bench, status: int, kind: type[errors.ProviderError]
) -> None:
    error = {"code": -32603, "message": f"Internal error: API Error: {status} no"}
    agent = at.open("--refuse", json.dumps(error))
    with pytest.raises(kind) as failure:
        at.say(agent, 1)
    assert failure.value.status == status
    assert list(agent.history) == []


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        (RequestError(400, "bad"), errors.InvalidRequestError, 400),
        (RequestError(-32000, "Authentication required"), errors.AuthenticationError, None),
        (RequestError(-32603, "Internal error", {"errorKind": "rate_limit"}), errors.RateLimitError, None),
        (RequestError(-32603, "Internal error", {"errorKind": "overloaded"}), errors.OverloadedError, None),
        (RequestError(-32603, "x", "unexpected status 401 Unauthorized: {}"), errors.AuthenticationError, 401),
        (RequestError(-32603, "Internal error", {"details": '{"error":{"code": 429}}'}), errors.RateLimitError, 429),
        (RequestError(-32603, "prompt is too long: 300 tokens > 200 maximum"), errors.ContextLimitError, None),
        (
            RequestError(-32603, "x", {"message": '{"error":{"type":"invalid_request_error"}}'}),
            errors.InvalidRequestError,
            None,
        ),
        (RequestError(500, "Requested entity was not found."), errors.InvalidRequestError, 404),
        (RequestError(-32603, "x", {"codex_error_info": {"server_overloaded": {}}}), errors.OverloadedError, None),
        (RequestError(-32603, "Internal error", {"details": "it broke"}), errors.TransportError, None),
    ],
)
def test_an_error_is_typed_by_what_a_program_adds_to_it(
    error: RequestError, kind: type[errors.ProviderError], status: int | None
) -> None:
    found = typed_error(error, "", str)
    assert type(found) is kind
    assert found.status == status


def test_the_figures_of_a_full_context_are_read() -> None:
    found = typed_error(RequestError(-32603, "prompt is too long: 300 tokens > 200 maximum"), "", str)
    assert isinstance(found, errors.ContextLimitError)
    assert (found.requested, found.limit) == (300, 200)
