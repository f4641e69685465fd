"""Which session a word of `turnproof sessions` means."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from .kit import AGENT, Run, conversation, home, start_session


@pytest.mark.parametrize("named", ["s1-aaaaaa", "s1-a", "s1", "2"])
def test_a_session_is_named_by_id_by_its_beginning_or_by_number(folder: Path, run: Run, named: str) -> None:
    first = start_session(folder, "one")
    start_session(folder, "two")
    assert run("resume", AGENT, named, "more").code == 0
    assert conversation(folder, first) == ["one", "more"]


def test_a_beginning_that_fits_several_is_refused_and_names_them(folder: Path, run: Run) -> None:
    for text in "abcdefg":
        start_session(folder, text)
    done = run("info", AGENT, "s")
    assert done.code == 2
    assert "error: 's' could be any of s7-aaaaaa, " in done.err[0]
    assert done.err[0].endswith("and 2 more: write more of it")


def test_an_unknown_id_knows_what_was_meant(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    done = run("info", AGENT, "s1-aaabaa")
    assert done.err[0] == "error: parrot has no session 's1-aaabaa'; did you mean 's1-aaaaaa'?"


@pytest.mark.parametrize(
    ("words", "has"),
    [
        (("zzz",), "; it has 2 in {here}, 3 in all: "),
        (("3",), "; it has 2 in {here}, 3 in all: "),
        (("4", "--all"), "; it has 3 in all: "),
    ],
)
def test_a_word_that_means_none_is_told_how_many_there_are(
    folder: Path, run: Run, words: Sequence[str], has: str
) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    start_session(folder, "one")
    start_session(folder, "two")
    start_session(folder, "far", cwd=elsewhere)
    done = run("info", AGENT, *words)
    assert (done.code, done.out) == (2, "")
    shown = "`turnproof sessions list` with --all shows them"
    assert done.err[0] == f"error: parrot has no session {words[0]!r}{has.format(here=folder)}{shown}"


def test_where_there_is_no_session_at_all_the_home_is_named(folder: Path, run: Run) -> None:
    done = run("info", AGENT, "1")
    assert done.err[0] == f"error: parrot has no session '1'; it has none at all (its home is {home(folder)})"


def test_a_session_of_another_folder_is_found_by_its_id_and_gone_on_with_there(folder: Path, run: Run) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    session = start_session(folder, "one", cwd=elsewhere)
    assert run("resume", AGENT, session, "two").code == 0
    assert conversation(folder, session) == ["one", "two"]
    elsewhere.rmdir()
    done = run("resume", AGENT, session, "three")
    assert (done.code, done.err[0]) == (
        2,
        f"error: session {session!r} belongs to {elsewhere}, and that folder is gone",
    )


def test_a_number_is_that_of_the_same_list(folder: Path, run: Run) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    here, far = start_session(folder, "here"), start_session(folder, "far", cwd=elsewhere)
    assert json.loads(run("info", AGENT, "1", "--json").out)["session"]["session_id"] == here
    assert json.loads(run("info", AGENT, "1", "--all", "--json").out)["session"]["session_id"] == far
