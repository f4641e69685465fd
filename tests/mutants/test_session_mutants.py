"""Broken sessions: a wrapper that changes nothing by itself, and the kill matrix of sessions, ours and another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnproof._base.exit_codes import Exit
from turnproof.cancel import CancelToken
from turnproof.commands.certify.mutants import mutants
from turnproof.commands.certify.options import MutantsOptions
from turnproof.judge.requirements import load_suite
from turnproof.messages import Message, Text, TokenUsage
from turnproof.subject import FACTS, OPERATIONS, SessionBinding, SessionReply, SessionTurn
from turnproof_suites.mutants._session import BrokenSession, broken_binding

REFERENCE = "turnproof.session.binding:REFERENCE"
FOREIGN = "run.driver.foreign_session:FOREIGN"

THREE = ("reset-keeps-a-turn", "own-list-handed-out", "stop-not-heard")


class Logged:
    """A session that writes down what was done with it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def did(self, *what: Any) -> None:
        self.done.append(what)


def logging_binding(**fields: Any) -> SessionBinding:
    def does(name: str, result: Any = None) -> Any:
        def operation(session: Logged, *arguments: Any) -> Any:
            session.did(name, *arguments)
            return result

        return operation

    everything: dict[str, Any] = {name: does(name) for name in (*OPERATIONS, "close") if name not in {"load", *FACTS}}
    everything |= {"save": does("save", "text"), "usage": does("usage", TokenUsage(1, 2, 3))}
    everything |= {"send_parts": does("send_parts", SessionReply("both"))}
    return SessionBinding(
        name="logged",
        open=lambda setup: Logged(),
        send=does("send", SessionReply("said")),
        history=does("history", [Message.user("Hi")]),
        **{**everything, "load": lambda setup, saved: Logged(), **fields},
    )


def test_what_is_not_broken_is_the_sessions_own() -> None:
    binding = broken_binding(BrokenSession, logging_binding())
    session = binding.open(None)  # type: ignore[arg-type]
    turn = SessionTurn(CancelToken())
    assert binding.send(session, "Hi", turn) == SessionReply("said")
    assert binding.send_parts is not None
    assert binding.send_parts(session, [Text("Hi")], turn) == SessionReply("both")
    assert [message.text for message in binding.history(session)] == ["Hi"]
    arguments = {"revert": (1,), "swap": ("provider",), "configure": ("system", ())}
    for name in OPERATIONS:
        if name not in {"send_parts", "load", *FACTS}:
            getattr(binding, name)(session, *arguments.get(name, ()))
    assert binding.usage is not None
    assert binding.usage(session) == TokenUsage(1, 2, 3)
    assert binding.close is not None
    binding.close(session)
    done = [what[0] for what in session.handle.done]
    assert set(done) == (set(OPERATIONS) - {"load", *FACTS}) | {"send", "history", "close"}
    assert ("revert", 1) in session.handle.done


def test_what_a_session_lacks_the_broken_one_lacks() -> None:
    inner = logging_binding(revert=None, load=None, send_parts=None, close=None)
    binding = broken_binding(BrokenSession, inner)
    assert (binding.revert, binding.load, binding.send_parts, binding.close) == (None, None, None, None)
    assert binding.operations == inner.operations


def test_a_loaded_session_is_broken_too() -> None:
    binding = broken_binding(BrokenSession, logging_binding())
    assert binding.load is not None
    assert isinstance(binding.load(None, "text"), BrokenSession)  # type: ignore[arg-type]


def run(out: Path, subject: str, *only: str) -> tuple[int, dict[str, Any]]:
    code = mutants(MutantsOptions(adapter=subject, only=only, out=out, json=True))
    return code, json.loads((out / "mutants.json").read_text())


@pytest.fixture
def tests_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))


@pytest.mark.usefixtures("capsys", "tests_on_the_path")
@pytest.mark.parametrize("subject", [REFERENCE, FOREIGN])
def test_broken_sessions_are_caught_whoever_wrote_the_session(subject: str, tmp_path: Path) -> None:
    code, matrix = run(tmp_path, subject, *THREE)
    assert (code, matrix["counts"]) == (Exit.OK, {"caught": 3})
    assert {row["seam"] for row in matrix["mutants"]} == {"session"}
    of_sessions = [one for one in load_suite().requirements if one.subject == "session"]
    requirement_ids = {one.id for one in of_sessions if "window" not in one.capability}  # neither claims one
    assert set(matrix["requirements"]) == requirement_ids | {row["expected"] for row in matrix["mutants"]}


@pytest.mark.usefixtures("capsys")
def test_an_adapter_is_broken_by_its_session_only_where_an_adapter_is_judged_by_it(tmp_path: Path) -> None:
    code, matrix = run(tmp_path, "anthropic", "cancelled-turn-begun", "reset-keeps-a-turn")
    rows = {row["mutant"]: row for row in matrix["mutants"]}
    assert code == Exit.OK
    assert rows["cancelled-turn-begun"]["outcome"] == "caught"
    assert rows["reset-keeps-a-turn"]["outcome"] == "not-claimed"
    assert "required of sessions" in rows["reset-keeps-a-turn"]["detail"]


@pytest.mark.usefixtures("capsys", "tests_on_the_path")
def test_what_cannot_be_seen_of_a_session_is_no_survivor(tmp_path: Path) -> None:
    code, matrix = run(tmp_path, FOREIGN, "swap-begins-anew", "call-ids-replaced")
    assert (code, matrix["counts"]) == (Exit.UNDECIDED, {"not-claimed": 2})
    details = [row["detail"] for row in matrix["mutants"]]
    assert "does not claim swap()" in details[0]
    assert "it breaks adapters" in details[1]


@pytest.mark.usefixtures("capsys", "tests_on_the_path")
def test_a_wait_that_hears_no_cancel_shows_on_the_wire_of_a_session_that_hides_its_calls(tmp_path: Path) -> None:
    code, matrix = run(tmp_path, FOREIGN, "back-off-deaf")
    assert (code, matrix["counts"]) == (Exit.OK, {"caught": 1})
