"""`turnproof sessions delete`: who is asked, and what is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from .kit import AGENT, Run, rows, start_session


def test_sessions_are_deleted_by_name_and_number_as_they_stood_in_the_list(folder: Path, run: Run) -> None:
    first, second, third = start_session(folder, "one"), start_session(folder, "two"), start_session(folder, "three")
    done = run("delete", AGENT, "1", first, "3", "--yes")
    assert (done.code, done.out.split()) == (0, [third, first])
    assert rows(run("list", AGENT).out) == [second]


def test_without_a_terminal_nothing_is_deleted_unless_yes_is_said(folder: Path, run: Run) -> None:
    session = start_session(folder, "one")
    done = run("delete", AGENT, "1", stdin="y\n")
    assert (done.code, done.out) == (2, "")
    assert done.err[0].startswith("error: nothing was deleted: ")
    assert done.err[0].endswith("for the confirmation; add --yes")
    assert rows(run("list", AGENT).out) == [session]


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("Yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_on_a_terminal_a_person_is_asked(folder: Path, run: Run, answer: str, left: int) -> None:
    session = start_session(folder, "one")
    done = run("delete", AGENT, "1", stdin=answer, terminal=True)
    assert done.code == 0
    assert done.out == (f"{session}\n" if not left else "")
    assert done.err[0] == f"{session} one"
    assert "delete this session of parrot permanently?" in done.err[1]
    assert ("nothing was deleted" in " ".join(done.err)) is bool(left)
    assert len(run("list", AGENT, "--json").out.split("session_id")) == left + 1


def test_an_unknown_one_among_several_leaves_all(folder: Path, run: Run) -> None:
    session = start_session(folder, "one")
    assert run("delete", AGENT, "1", "nobody", "--yes").code == 2
    assert rows(run("list", AGENT).out) == [session]
