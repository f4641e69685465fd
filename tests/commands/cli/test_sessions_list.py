"""`turnproof sessions list` and `info`: what is data, and what is talk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from parrot import START, Parrot

from turnproof.commands.session_sources.open_source import default_home

from .kit import AGENT, HOMES, Run, home, rows, start_session


def test_sessions_are_listed_newest_first_in_the_current_folder(folder: Path, run: Run) -> None:
    first, second, third = start_session(folder, "one"), start_session(folder, "two"), start_session(folder, "three")
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    other = start_session(folder, "far away", cwd=elsewhere)
    done = run("list", AGENT)
    assert done.code == 0
    assert rows(done.out) == [third, second, first]
    heading, newest = done.out.splitlines()[:2]
    assert heading.split() == ["#", "id", "updated", "cwd", "title", "problem"]
    assert newest.split() == ["1", third, "2026-11-22", "12:03Z", str(folder), "three"]
    assert rows(run("list", AGENT, "--cwd", str(elsewhere)).out) == [other]
    assert rows(run("list", AGENT, "--all", "--limit", "2").out) == [other, third]


def test_a_list_for_programs_has_a_schema_and_whole_times(folder: Path, run: Run) -> None:
    session = start_session(folder, "one\x1b[31m")
    found = json.loads(run("list", AGENT, "--json").out)
    assert found == {
        "schema": "turnproof.sessions/1",
        "sessions": [
            {
                "session_id": session,
                "provider": "parrot",
                "cwd": str(folder),
                "title": "one\x1b[31m",
                "updated_at": START.replace(minute=1).isoformat().replace("+00:00", "Z"),
                "problem": None,
            }
        ],
    }
    assert "\x1b" not in run("list", AGENT).out


def test_where_nothing_is_to_be_listed_the_talk_says_so(folder: Path, run: Run) -> None:
    done = run("list", AGENT)
    assert (done.code, done.out) == (0, "")
    at = f"(its home is {home(folder)})"
    other = "--all looks in every folder, --home DIR in another home"
    assert done.err[0] == f"parrot has no session in {folder} {at}; {other}"
    done = run("list", AGENT, "--json", "--all")
    assert json.loads(done.out)["sessions"] == []
    assert done.err[0] == f"parrot has no session {at}; --home DIR looks in another home"


def test_the_default_home_is_below_the_users_data(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("list", AGENT)
    assert (folder.parent / "data" / HOMES).stat().st_mode & 0o777 == 0o700
    for value in ("", "relative/path"):
        monkeypatch.setenv("XDG_DATA_HOME", value)
        monkeypatch.setenv("HOME", "/home/me")
        assert default_home("claude_agent") == Path("/home/me/.local/share/turnproof/agents/claude_agent")


def test_a_session_is_told_with_its_conversation_in_few_lines(folder: Path, run: Run) -> None:
    session = start_session(folder, "hello\nthere", "look", "x" * 1000)
    done = run("info", AGENT, "1")
    assert (done.code, done.err) == (0, [])
    facts, _, talk = done.out.partition("\n\n")
    assert [line.split(maxsplit=1) for line in facts.splitlines()] == [
        ["session", session],
        ["updated", "2026-11-22 12:03Z"],
        ["cwd", str(folder)],
        ["title", "hello there"],
        ["can", "list, load, continue last, delete, fork"],
    ]
    assert talk.splitlines()[:6] == [
        "user: hello there",
        "model: You said: hello there",
        "user: look",
        'model: calls look {"at": "the sky"}',
        "tool: look: blue",
        "model: You said: look",
    ]
    assert talk.splitlines()[6] == f"user: {'x' * 400} … 600 characters more"


def test_for_programs_the_conversation_is_told_in_full(folder: Path, run: Run) -> None:
    start_session(folder, "look", "x" * 1000)
    found = json.loads(run("info", AGENT, "1", "--json").out)
    assert found["schema"] == "turnproof.session-info/1"
    assert found["capabilities"] == {
        "can_list": True,
        "can_load": True,
        "can_continue_last": True,
        "can_delete": True,
        "can_fork": True,
    }
    assert found["messages"][1]["parts"][0]["name"] == "look"
    assert found["messages"][4]["parts"][0]["text"] == "x" * 1000


def test_where_a_conversation_cannot_be_told_the_rest_is(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    done = run("info", "parrot:LISTS_ALONE", "1", "--home", str(home(folder)))
    assert done.code == 0
    assert "can      list\n" in done.out
    assert done.err[0] == "its messages cannot be shown: parrot cannot load a session"


def test_a_session_that_cannot_be_resumed_is_shown_with_the_reason(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(folder, "one")
    real = Parrot.__init__

    def damaged(self: Parrot, *args: Any) -> None:
        real(self, *args)
        self.broken = {session}

    monkeypatch.setattr(Parrot, "__init__", damaged)
    assert run("list", AGENT).out.splitlines()[1].endswith("damaged")
    done = run("info", AGENT, "1")
    assert (done.code, done.err[0]) == (0, "its messages cannot be shown: damaged")
    assert "problem  damaged" in done.out
    done = run("resume", AGENT, "1", "two")
    assert done.err[0] == f"error: session {session!r} cannot be resumed: damaged"
    assert run("resume", AGENT, "--last", "two").code == 2, "it is no last session either"
