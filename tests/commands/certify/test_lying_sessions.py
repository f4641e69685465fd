"""Sessions that lie of their history, their copies and their children: what finds it says what they lie about."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from run.driver.foreign_session import FOREIGN, Handle

from turnproof.messages import Message, Text
from turnproof.run.places import run_place
from turnproof.subject import Tool

from .test_certify_sessions import certified


class Live(Handle):
    """A session that hands out the list that it goes by itself."""

    def __init__(self, setup: Any) -> None:
        super().__init__(setup)
        self.own: list[Message] = []
        self.seen = 0

    def history(self) -> list[Message]:
        held = FOREIGN.history(self)
        self.own.extend(held[self.seen :])
        self.seen = len(held)
        return self.own


def in_capitals(handle: Handle) -> list[Message]:
    return [
        Message(
            one.role,
            tuple(Text(part.text.upper()) if isinstance(part, Text) else part for part in one.parts),
            one.message_id,
        )
        for one in FOREIGN.history(handle)
    ]


class Waiting(Handle):
    """Waits behind each tool for something that nobody does."""

    def running(self, tool: Tool) -> Any:
        run = super().running(tool)

        def run_and_wait(arguments: dict[str, Any]) -> None:
            run(arguments)
            threading.Event().wait()

        return run_and_wait


class Generous(Handle):
    """Gives tools its own context with the model's arguments, as frameworks do that inject one."""

    def running(self, tool: Tool) -> Any:
        run = super().running(tool)
        return lambda arguments: run({**arguments, "context": self})


LIVE = replace(FOREIGN, name="live", open=Live, history=Live.history)
CAPITALS = replace(FOREIGN, name="capitals", history=in_capitals)
DICTS = replace(FOREIGN, name="dicts", history=lambda handle: [{"role": "user"}])  # type: ignore[list-item]
RENAMED = replace(FOREIGN, name="renamed", history=lambda handle: handle.held())
GENEROUS = replace(FOREIGN, name="generous", open=Generous, spawn=lambda handle: Generous(handle.setup))
WAITING = replace(FOREIGN, name="waiting", open=Waiting)
OWN_CHILD = replace(FOREIGN, name="own-child", spawn=lambda handle: handle)
BLANK_COPY = replace(FOREIGN, name="blank-copy", load=lambda setup, saved: Handle(setup))


@pytest.fixture(scope="module", autouse=True)
def tests_on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    yield
    sys.path.pop(0)


@pytest.mark.parametrize(
    ("session", "scenario", "requirement", "words"),
    [
        (
            "CAPITALS",
            "basics/plain",
            "history/wire-is-what-the-session-holds",
            (
                'expected "WHICH BED HOLDS THE BASIL?"; got "Which bed holds the basil?"',
                "The request lacks a text that the session holds",
            ),
        ),
        (
            "LIVE",
            "history/handed_out",
            "history/returned-list-is-a-copy",
            ("expected 2 messages in the history, whatever a caller does to its list", "got 0 messages"),
        ),
        (
            "BLANK_COPY",
            "history/saved",
            "persistence/loaded-history-is-the-saved-one",
            ("The loaded history is not the saved one", "got nothing"),
        ),
        (
            "OWN_CHILD",
            "subagents/child",
            "subagents/child-begins-empty",
            ("expected only texts of the child", "of its parent"),
        ),
    ],
)
def test_a_session_that_lies_is_told_what_it_says_and_what_is_so(
    session: str, scenario: str, requirement: str, words: Sequence[str], tmp_path: Path
) -> None:
    subject = f"commands.certify.test_lying_sessions:{session}"
    found = certified(tmp_path, subject, scenarios=(scenario,), only=(requirement,))
    status, message = found.status(requirement)
    assert status == "violated"
    assert [word for word in words if word not in message] == [], message


def test_a_history_in_the_form_of_another_framework_is_the_reason_why_nothing_is_decided(tmp_path: Path) -> None:
    requirement = "core/wire-is-what-the-session-holds"
    subject = "commands.certify.test_lying_sessions:DICTS"
    found = certified(tmp_path, subject, scenarios=("basics/plain",), only=(requirement,))
    verdict = found.report["requirements"][requirement]
    assert verdict["status"] == "inconclusive"
    report_text = json.dumps(verdict)
    assert "history() has a dict at index 0 instead of a Message: the binding has to translate" in report_text
    assert "nothing to compare" not in report_text


def test_a_history_that_raises_is_named_with_the_line_that_raised(tmp_path: Path) -> None:
    found = certified(tmp_path, "commands.certify.test_lying_sessions:RENAMED", scenarios=("basics/plain",))
    for requirement in ("history/what-was-said-is-held", "core/wire-is-what-the-session-holds"):
        status, message = found.status(requirement)
        assert status == "inconclusive"
        assert message.startswith(
            "the session's history() raised AttributeError: 'Handle' object has no attribute 'held' at "
        )


def test_a_tool_that_gets_more_than_the_models_arguments_is_the_reason_why_nothing_is_decided(tmp_path: Path) -> None:
    """Most frameworks tell the model that the tool failed, and go on: nothing else would show it."""
    requirement = "subagents/a-tool-can-ask-a-child"
    subject = "commands.certify.test_lying_sessions:GENEROUS"
    found = certified(tmp_path, subject, scenarios=("subagents/by_tool",), only=(requirement,))
    status, message = found.status(requirement)
    assert status == "inconclusive"
    assert message.startswith("the tool ask_helper was given $.context: Generous is not a JSON value"), message
    assert "nothing to compare" not in message


def test_a_session_that_waits_for_ever_behind_a_tool_hangs_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_place.__kwdefaults__ is not None
    monkeypatch.setitem(run_place.__kwdefaults__, "time_limit", 1.5)
    found = certified(tmp_path, "commands.certify.test_lying_sessions:WAITING", scenarios=("tools/one",))
    status, message = found.status("core/turns-come-to-an-end")
    assert status == "violated"
    assert message.startswith("The session hung.")
    call = 'read_sensor({"bed": "3"})'
    assert f"no sign of life for 1.5 s, in turn 0; no request has a result of {call} (and" in message
