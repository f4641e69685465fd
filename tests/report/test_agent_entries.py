"""What a report says of an agent's sessions and processes: every word of it, for none may be guessed from a code."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import get_args

import pytest

from turnproof.report.agent_entries import AgentEvent, agent_entry
from turnproof.run.transcript import Killed, LeftBehind, SaidBeside, SessionInForce, SessionListed, SessionStepped


@dataclass(frozen=True)
class Case:
    """An event, and how it is told."""

    id: str
    event: AgentEvent
    label: str
    text: str = ""


CASES = [
    Case(
        "resumed",
        SessionStepped(do="resume", outcome="done", asked="tea", was="coffee", now="tea"),
        "resume tea: done; open was coffee, now tea",
    ),
    Case("begun", SessionStepped(do="new", outcome="done", was="tea"), "new: done; open was tea, now none"),
    Case(
        "the last one of a folder",
        SessionStepped(do="continue", outcome="nothing", cwd="other", last=True, was="tea", now="tea"),
        "continue the last session in other: nothing; open was tea, now tea",
    ),
    Case(
        "refused",
        SessionStepped(do="resume", outcome="refused", asked="nobody", error="ResumeError", message="no such session"),
        "resume nobody: refused; open was none, now none",
        "ResumeError: no such session",
    ),
    Case(
        "listed",
        SessionStepped(
            do="list",
            outcome="done",
            was="tea",
            now="tea",
            listed=(
                SessionListed("tea", cwd="main", age=0),
                SessionListed("coffee", age=1, problem=True),
                SessionListed("other-1"),
            ),
        ),
        "list: done; open was tea, now tea",
        "tea in main, number 1 from the newest\ncoffee, number 2 from the newest, cannot be resumed\n"
        "other-1, no time reported",
    ),
    Case(
        "what it can",
        SessionInForce(session="tea", can=("can_list", "can_load")),
        "open session: tea",
        "it can can_list, can_load",
    ),
    Case("nothing", SessionInForce(session=None), "open session: none", "it can do nothing with its sessions"),
    Case(
        "what nobody knows",
        SessionInForce(session="tea", can=("can_list",), unknown=("can_fly",)),
        "open session: tea",
        "it can can_list; and it says can_fly",
    ),
    Case(
        "answered beside",
        SaidBeside(outcome="answer", text="Hello."),
        "a turn that was asked for at the same time: answer",
        "Hello.",
    ),
    Case(
        "refused beside",
        SaidBeside(outcome="error", error="UsageError", message="a turn runs", typed=True),
        "a turn that was asked for at the same time: error",
        "UsageError: a turn runs",
    ),
    Case("killed", Killed(at="tool", processes=2), "2 processes of the agent killed at tool"),
    Case("clean", LeftBehind(started=3), "left behind of 3 processes", "nothing"),
    Case(
        "left",
        LeftBehind(processes=("node",), files=("cwd/.agent",), started=2, exposed=("sh",)),
        "left behind of 2 processes",
        "process node\nfile cwd/.agent\nthe key in the command line of sh",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))
def test_what_happened_is_told_in_words(case: Case) -> None:
    assert agent_entry(case.event) == (case.label, case.text)


def test_every_kind_of_event_is_among_the_cases() -> None:
    assert {type(case.event) for case in CASES} == set(get_args(AgentEvent))
