"""What a subject raised comes with its traceback: out of the worker's process, and into no digest."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnproof.run.driver import Runner, RunSpec
from turnproof.run.evidence import EvidenceStore, digest
from turnproof.run.tracebacks import Frame, Raised, format_raised
from turnproof.run.transcript import Event, Failed, Refused, RunEnded, RunKey, Transcript
from turnproof.subject import SessionBinding, SessionReply
from turnproof.wire.emulator.server_run import CANARY_KEY

from . import raising
from .talks import scenario

HERE = Path(__file__).parent
FILE = "tests/run/driver/raising.py"


def spec(adapter: str) -> RunSpec:
    script = scenario("an answer")
    return RunSpec(f"raising:{adapter}", script, RunKey(script.name, "stateless"))


def raised_in(event: Failed | Refused | RunEnded) -> Raised:
    assert event.raised is not None
    return event.raised


def own_frame(raised: Raised) -> Frame:
    assert raised.own_frame is not None
    return raised.own_frame


def test_what_a_helper_raised_below_a_hook_of_an_sdk_is_told_with_the_helpers_line(runner: Runner) -> None:
    talk = runner.run(spec("HOOK"))
    call, turn = (raised_in(failed) for failed in talk.of(Failed)[:2])
    assert call.name == "json.decoder.JSONDecodeError"
    own = own_frame(call)
    assert (own.file, own.function, own.module) == (FILE, "read_limits", "raising")
    assert own.line == raising.read_limits.__code__.co_firstlineno + 1
    assert own.source == "limits: dict[str, Any] = json.loads(text)"
    owners = [frame.owner for frame in call.frames]
    # Ours, the adapter, its HTTP client, the adapter's hook and helper, Python's JSON.
    changes = [owner for before, owner in zip(["", *owners], owners, strict=False) if owner != before]
    assert changes == ["turnproof", "subject", "sdk", "subject", "library"]
    sdk = next(frame for frame in call.frames if frame.owner == "sdk")
    assert (sdk.file, sdk.root) == ("httpx2/_client.py", "site-packages")
    assert own_frame(turn) == own


def test_a_translated_error_has_its_cause_and_the_key_is_in_neither(runner: Runner) -> None:
    talk = runner.run(spec("TRANSLATING"))
    found = raised_in(talk.of(Failed)[0])
    assert (found.name, own_frame(found).function) == ("turnproof.errors.ProviderError", "Translating.complete")
    assert found.cause is not None
    assert own_frame(found.cause).function == "read_limits"
    assert found.cause.notes == ("x-api-key: [key]",)
    assert talk.end.leaks == ()
    text = format_raised(found)
    assert text.index("JSONDecodeError") < text.index("direct cause") < text.index("the limits cannot be read")
    assert "frames of turnproof" in text


def test_what_a_coroutine_and_its_tasks_raised_has_their_frames(runner: Runner) -> None:
    found = raised_in(runner.run(spec("COROUTINE")).of(Failed)[0])
    assert found.type == "ExceptionGroup"
    assert own_frame(found).function == "Coroutine.complete"
    [member] = found.exceptions
    assert [frame.function for frame in member.frames if frame.owner == "subject"] == [
        "Coroutine._limits",
        "read_limits",
    ]


def test_a_coroutine_that_cancels_itself_is_told_with_its_line(runner: Runner) -> None:
    found = raised_in(runner.run(spec("CANCELS")).of(Failed)[0])
    assert found.message == "the adapter's coroutine ended by cancelling itself"
    assert own_frame(found).function == "CancelsItself.complete"


def test_what_a_thread_of_the_adapters_raised_has_the_frames_of_both(runner: Runner) -> None:
    found = raised_in(runner.run(spec("THREAD")).of(Failed)[0])
    assert [frame.function for frame in found.frames if frame.owner == "subject"] == [
        "InThread.complete",
        "read_limits",
    ]


def test_an_adapter_that_does_not_open_is_told_with_its_line_and_without_the_key(runner: Runner) -> None:
    ended = runner.run(spec("CLOSED"))
    assert ended.end.how == "open-failed"
    assert own_frame(raised_in(ended.end)).function == "read_limits"
    assert CANARY_KEY.encode() not in msgspec.json.encode(ended)


def test_what_a_shutdown_raised_and_an_exit_in_a_call_have_their_lines(runner: Runner) -> None:
    exits, *_, shutdown = (raised_in(failed) for failed in runner.run(spec("OPEN")).of(Failed))
    assert (exits.type, own_frame(exits).source) == ("SystemExit", "raise SystemExit(3)")
    assert [frame.function for frame in shutdown.frames if frame.owner == "subject"] == [
        "DoesNotClose.shutdown",
        "read_limits",
    ]


def test_an_operation_that_a_session_refuses_has_its_line() -> None:
    def history(handle: Any) -> Any:
        raise LookupError("it is lost")

    session = SessionBinding(
        "small", open=lambda setup: setup, send=lambda *_: SessionReply("Yes."), history=history, adapter=raising.HOOK
    )
    script = scenario("an answer")
    with Runner(in_process=True, bindings={"small": session}) as runner:
        talk = runner.run(RunSpec("small", script, RunKey(script.name, "stateless")))
    refused = next(event for event in talk.of(Refused) if event.operation == "history")
    assert own_frame(raised_in(refused)).source == 'raise LookupError("it is lost")'


# -- evidence --------------------------------------------------------------------------------------------------


def stripped(event: Event) -> Event:
    return msgspec.structs.replace(event, raised=None) if hasattr(event, "raised") else event


def test_tracebacks_are_kept_in_evidence_and_are_in_no_digest(runner: Runner, tmp_path: Path) -> None:
    talk = runner.run(spec("TRANSLATING"))
    store = EvidenceStore(tmp_path)
    found = store.put(talk)
    assert store.get(found).of(Failed) == talk.of(Failed)
    assert store.verify(found) is None
    assert digest(msgspec.structs.replace(talk, events=tuple(map(stripped, talk.events)))) == found


def test_an_event_without_a_traceback_is_written_as_it_was_before() -> None:
    ended = RunEnded(how="completed")
    failed = Failed(scope="call", error="E", message="m", typed=False)
    assert msgspec.json.encode([ended, failed]) == (
        b'[{"event":"run_ended","how":"completed"},'
        b'{"event":"failed","scope":"call","error":"E","message":"m","typed":false}]'
    )


def run_in(folder: Path, lines: int, monkeypatch: pytest.MonkeyPatch) -> Transcript:
    """The adapter as it stands in another folder, some lines further down."""
    folder.mkdir(parents=True)
    code = (HERE / "raising.py").read_text()
    (folder / "checked_out.py").write_text(code.replace("import asyncio", "\n" * lines + "import asyncio"))
    script = scenario("an answer")
    with monkeypatch.context() as patched:
        patched.chdir(folder)
        patched.syspath_prepend(str(folder))
        with Runner(jobs=1) as runner:
            return runner.run(RunSpec("checked_out:TRANSLATING", script, RunKey(script.name, "stateless")))


def test_two_checkouts_in_different_folders_have_the_same_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sys.modules.pop("checked_out", None)
    one = run_in(tmp_path / "home/ada/project", 0, monkeypatch)
    sys.modules.pop("checked_out", None)
    other = run_in(tmp_path / "builds/17", 40, monkeypatch)
    assert digest(one) == digest(other)
    frames = [own_frame(raised_in(talk.of(Failed)[0])) for talk in (one, other)]
    assert [frame.file for frame in frames] == ["checked_out.py", "checked_out.py"]
    assert frames[1].line - frames[0].line == 40
    assert str(tmp_path).encode() not in msgspec.json.encode([*one.of(Failed), *other.of(Failed)])
