"""Steps with an agent's sessions, as they are recorded: by label, with what was open, and whatever came of them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from turnproof.errors import ResumeError
from turnproof.messages import FunctionCall
from turnproof.run.driver.agent_sandbox import NO_SESSION
from turnproof.run.driver.session_operations import SessionOperations
from turnproof.run.tracebacks import Raised, capture
from turnproof.run.transcript import Event, Killed, LeftBehind, SessionInForce, SessionStepped
from turnproof.scenarios.model import SessionStep, Turn
from turnproof.sessions import SessionCapabilities, SessionInfo
from turnproof.subject import SessionBinding, SessionReply, SessionTurn
from turnproof.wire.emulator.server_run import CANARY_KEY

E = TypeVar("E", bound=Event)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Control:
    def ask(self, *question: Any) -> None:
        """Nobody is there to be asked."""


class Recorder:
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.control, self.turn, self.doing = Control(), 0, ""

    def event(self, event: Event) -> None:
        self.events.append(event)

    def raised(self, error: BaseException) -> Raised:
        return capture(error)

    @property
    def place(self) -> dict[str, Any]:
        return {"turn": self.turn}


class Agent:
    """As little of an agent as can be done something with: the id that is open, and what it says of itself."""

    def __init__(self, setup: Any) -> None:
        self.setup = setup
        self.session_id: str | None = setup["session"] if setup.get("session") else "id-1"
        self.can: Any = SessionCapabilities(can_list=True, can_load=True)
        self.infos: list[Any] = []
        self.closed = False


def resume(agent: Agent, session_id: str) -> None:
    if session_id == NO_SESSION:
        raise ResumeError(f"there is no {session_id} beside {agent.session_id}", session_id=session_id)
    agent.session_id = session_id


def new(agent: Agent) -> None:
    agent.session_id = "id-2"


def broken(agent: Agent) -> None:
    raise KeyError("id-1")


class Run:
    """What `SessionOperations` needs of a run."""

    def __init__(self, **fields: Any) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.job = SimpleNamespace(sandbox_root=self._folder.name)
        self.recorder = Recorder()
        self.tools = SimpleNamespace()
        self.refusals: list[tuple[str, str]] = []
        everything: dict[str, Any] = {
            "session_id": lambda agent: agent.session_id,
            "session_capabilities": lambda agent: agent.can,
            "resume_session": resume,
            "new_session": new,
            "list_sessions": lambda agent, cwd: agent.infos,
            "close": lambda agent: setattr(agent, "closed", True),
        }
        self.session = SessionBinding(
            name="small", open=Agent, send=send_text, history=list, **{**everything, **fields}
        )
        self.operations = SessionOperations(self)  # type: ignore[arg-type]
        self.open()

    def open(self) -> None:
        self.handle: Agent = Agent(self.operations.setup())

    def refused(self, operation: str, error: BaseException) -> None:
        self.refusals.append((operation, type(error).__name__))

    def snapshot(self, after: str) -> None:
        """What is held is of no interest here."""

    def did(self, *steps: SessionStep, denied: tuple[str, ...] = ()) -> list[SessionStepped]:
        """Begin a turn with these steps; what was recorded of them."""
        before = len(self.recorder.events)
        self.operations.begin(Turn(user=(), rounds=(), sessions=steps, denied=denied))
        return [event for event in self.recorder.events[before:] if isinstance(event, SessionStepped)]

    def last(self, kind: type[E]) -> E:
        return next(event for event in reversed(self.recorder.events) if isinstance(event, kind))


def send_text(agent: Agent, text: str, turn: SessionTurn) -> SessionReply:
    return SessionReply(text)


@pytest.fixture
def run() -> Iterator[Run]:
    run = Run()
    yield run
    run.operations.close()


def test_a_step_is_told_by_labels_with_what_was_open_before_and_after(run: Run) -> None:
    creation, back = run.did(SessionStep("new", label="second"), SessionStep("resume", session="first"))
    assert (creation.do, creation.outcome, creation.was, creation.now) == ("new", "done", "first", "second")
    assert (back.do, back.asked, back.was, back.now) == ("resume", "first", "second", "first")


def test_a_refusal_is_told_with_its_kind_and_without_ids(run: Run) -> None:
    (refused,) = run.did(SessionStep("resume", session="nobody"))
    assert (refused.outcome, refused.error, refused.typed, refused.unsupported) == (
        "refused",
        "ResumeError",
        True,
        False,
    )
    assert (refused.was, refused.now) == ("first", "first")
    assert "[nobody] beside [first]" in refused.message
    assert refused.raised is not None
    assert refused.raised.frames[-1].function == "resume"


def test_an_error_that_no_caller_knows_is_told_as_such() -> None:
    run = Run(new_session=broken)
    run.operations.report()
    (refused,) = run.did(SessionStep("new"))
    assert (refused.outcome, refused.error, refused.typed) == ("refused", "KeyError", False)
    assert "id-1" not in refused.message
    run.operations.close()


def test_what_an_agent_lacks_is_told_as_unsupported(run: Run) -> None:
    (refused,) = run.did(SessionStep("fork", label="branch"))
    assert (refused.outcome, refused.unsupported) == ("refused", True)


def test_a_session_whose_id_was_never_told_is_not_asked_for() -> None:
    run = Run(session_id=lambda agent: None)
    (nothing,) = run.did(SessionStep("resume", session="first"))
    assert (nothing.outcome, nothing.was, nothing.now) == ("nothing", None, None)
    run.operations.close()


def test_nothing_to_go_on_with_is_no_refusal() -> None:
    run = Run(continue_last=lambda agent, cwd: None)
    (nothing,) = run.did(SessionStep("continue", cwd="nowhere"))
    assert (nothing.outcome, nothing.cwd, nothing.returned) == ("nothing", "nowhere", None)
    run.operations.close()


def test_an_agent_is_closed_and_opened_with_what_the_step_says(run: Run) -> None:
    before = run.handle
    (opened,) = run.did(SessionStep("open", session="first", cwd="elsewhere", last=True))
    assert before.closed
    assert run.handle is not before
    setup = run.handle.setup
    assert (setup["session"], setup["continue_last"]) == ("id-1", True)
    assert setup["cwd"] != before.setup["cwd"]
    assert setup["home"] == before.setup["home"]
    assert (opened.asked, opened.cwd, opened.last, opened.now) == ("first", "elsewhere", True, "first")


def test_only_the_opening_that_asks_for_a_session_gets_it(run: Run) -> None:
    run.did(SessionStep("open", session="first"))
    assert "session" not in run.operations.setup()


def test_a_list_is_told_by_labels_folders_and_ages(run: Run) -> None:
    here = run.handle.setup["cwd"]
    run.handle.infos = [
        SessionInfo("id-9", cwd="/", title="Roses", updated_at=NOON),
        SessionInfo("id-1", cwd=here, updated_at=NOON + timedelta(hours=1), problem="damaged"),
        SessionInfo("id-8", cwd=here),
    ]
    (stepped,) = run.did(SessionStep("list", cwd="everywhere"))
    rows = [(one.session, one.cwd, one.titled, one.age, one.problem) for one in stepped.listed]
    assert rows == [
        ("first", "project", False, 0, True),
        ("other-1", "", True, 1, False),
        ("other-2", "project", False, None, False),
    ]


def test_a_list_of_something_else_is_refused(run: Run) -> None:
    run.handle.infos = ["id-1"]
    (refused,) = run.did(SessionStep("list"))
    assert (refused.outcome, refused.error) == ("refused", "TypeError")
    assert "a str instead of a SessionInfo" in refused.message


def test_what_nobody_knows_of_capabilities_is_told_by_name(run: Run) -> None:
    run.handle.can = SimpleNamespace(can_list=True, can_load=False, can_resume=True, can_fork="yes", version=3)
    run.operations.report()
    event = run.last(SessionInForce)
    assert (event.session, event.can) == ("first", ("can_list",))
    assert event.unknown == ("can_fork", "can_resume", "version")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("Some Code 2.1", "Some Code 2.1"),
        (None, ""),
        ("a\nb " + "c" * 200, "a b " + "c" * 76),
        (f"started with {CANARY_KEY}", "started with [key]"),
        (f"{'c' * 76} {CANARY_KEY}", f"{'c' * 76} [ke"),
    ],
)
def test_the_program_behind_an_agent_is_told_in_a_line_and_without_the_key(program: str | None, expected: str) -> None:
    run = Run(program=lambda agent: program)
    run.operations.report()
    assert run.last(SessionInForce).program == expected
    run.operations.close()


def test_a_program_that_cannot_be_asked_for_its_version_is_recorded_and_the_session_told(run: Run) -> None:
    run = Run(program=broken)
    run.operations.report()
    assert (run.last(SessionInForce).session, run.last(SessionInForce).program) == ("first", "")
    assert run.refusals == [("program", "KeyError")]
    run.operations.close()


def test_an_agent_that_cannot_say_what_is_open_is_recorded_and_the_run_goes_on() -> None:
    def raises(agent: Agent) -> str:
        raise RuntimeError("no idea")

    run = Run(session_id=raises)
    (stepped,) = run.did(SessionStep("new", label="second"))
    assert (stepped.outcome, stepped.was, stepped.now) == ("done", None, None)
    assert ("session_id", "RuntimeError") in run.refusals
    run.operations.close()


def test_damage_is_told_where_there_was_something_to_damage(run: Run) -> None:
    (nothing,) = run.did(SessionStep("damage", session="first"))
    stored = Path(run.handle.setup["home"], "id-1.json")
    stored.write_text("0123456789")
    (done,) = run.did(SessionStep("damage", session="first"))
    assert (nothing.outcome, done.outcome) == ("nothing", "done")
    assert stored.read_text() == "01234"


def test_tools_are_denied_for_one_turn(run: Run) -> None:
    permits = run.operations.setup()["permits"]
    run.did(denied=("read",))
    assert [permits(FunctionCall("1", name)) for name in ("read", "water")] == [False, True]
    run.did()
    assert permits(FunctionCall("1", "read"))


def test_a_kill_is_told_before_it_is_done(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a turn could be over before its kill is recorded, and the kill would be the next turn's."""
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    running: list[int | None] = []
    record = run.recorder.event

    def event(what: Event) -> None:
        running.append(child.poll())
        record(what)

    monkeypatch.setattr(run.recorder, "event", event)
    run.operations.kill("event 3")
    assert run.last(Killed).processes == 1
    assert running == [None]
    assert child.wait(60) == -9


def test_what_is_left_is_told_at_the_end() -> None:
    run = Run()
    Path(run.handle.setup["cwd"], ".agent.json").write_text("{}")
    run.operations.close()
    left = run.last(LeftBehind)
    assert (left.files, left.processes, left.started) == (("project/.agent.json",), (), 0)
