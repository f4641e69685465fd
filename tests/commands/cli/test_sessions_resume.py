"""`turnproof sessions resume`: what is said, what is shown, and what reaches the agent."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from parrot import Parrot

from turnproof.agents import AgentSetup
from turnproof.provider import Endpoint

from .kit import AGENT, Run, conversation, start_session


def test_the_answer_is_data_and_the_session_is_talk(folder: Path, run: Run) -> None:
    session = start_session(folder, "one")
    done = run("resume", AGENT, session, "two words")
    assert done == (0, "You said: two words\n", [f"session: {session}"])
    assert conversation(folder, session) == ["one", "two words"]


def test_an_agent_that_does_not_stream_is_shown_at_the_end(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    assert run("resume", AGENT, "1", "silent").out == "You said: silent\n"


def test_the_last_session_is_gone_on_with(folder: Path, run: Run) -> None:
    first, second = start_session(folder, "one"), start_session(folder, "two")
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    third = start_session(folder, "three", cwd=elsewhere)
    assert run("resume", AGENT, "--last", "more").err[0] == f"session: {second}"
    assert run("resume", AGENT, "--last", "more", "--cwd", str(elsewhere)).err[0] == f"session: {third}"
    assert run("resume", AGENT, first, "more").code == 0
    assert run("resume", AGENT, "--last", "--all", "most").err[0] == f"session: {first}"


@pytest.mark.parametrize("words", [("1",), ("1", "-"), ("--last",), ("--last", "-")])
def test_without_a_prompt_it_is_read_from_stdin(folder: Path, run: Run, words: Sequence[str]) -> None:
    session = start_session(folder, "one")
    assert run("resume", AGENT, *words, stdin="from a file\nof lines\n").code == 0
    assert conversation(folder, session)[-1] == "from a file\nof lines"
    assert "the prompt, and then Ctrl-D" in run("resume", AGENT, "1", stdin="typed", terminal=True).err[0]


def test_no_prompt_is_asked_for_where_there_is_no_such_session(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    done = run("resume", AGENT, "nobody", stdin="typed in vain", terminal=True)
    assert (done.code, done.out) == (2, "")
    assert done.err[0].startswith("error: parrot has no session 'nobody'; ")


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_prompt_on_stdin_that_is_no_text_is_not_said(folder: Path, run: Run, errors: str) -> None:
    session = start_session(folder, "one")
    done = run("resume", AGENT, "1", stdin=io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8", errors=errors))
    assert (done.code, done.out) == (2, "")
    assert done.err[0].startswith("error: the prompt on stdin is no text: ")
    assert conversation(folder, session) == ["one"]


def test_what_steers_a_terminal_is_shown_as_its_escape(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    assert run("resume", AGENT, "1", "red\x1b[31m").out == "You said: red\\x1b[31m\n"


def test_a_turn_that_fails_shows_what_had_arrived_and_ends_with_2(folder: Path, run: Run) -> None:
    session = start_session(folder, "one")
    done = run("resume", AGENT, "1", "fail")
    assert (done.code, done.out) == (2, "I\n")
    assert done.err[:2] == [f"session: {session}", "error: the program ended in mid-turn"]
    assert run("resume", AGENT, "1", "again").code == 0


def test_what_is_said_on_the_command_line_reaches_the_agent(folder: Path, run: Run) -> None:
    import parrot

    own = folder.parent / "own"
    own.mkdir()
    words = ("--home", str(own), "--base-url", "http://127.0.0.1:9/x", "--system", "be brief")
    options = ("--option", "program=/bin/parrot", "--option", "depth=2", "--option", "name=a=b")
    stored = Parrot(AgentSetup(Endpoint("", "", ""), str(own), str(folder)))
    stored.send("one")
    assert run("resume", "their_echo:NOTED=other", "--last", "system?", *words, *options).out == "be brief\n"
    (setup,) = sys.modules["their_echo"].SEEN
    assert setup.endpoint == Endpoint(
        "http://127.0.0.1:9/x", "key-1", "other", {"depth": 2, "program": "/bin/parrot", "name": "a=b"}
    )
    assert (setup.home, setup.cwd, setup.tools) == (str(own), str(folder), ())
    assert parrot.AGENT.options == {}


@pytest.mark.parametrize(
    ("address", "is_asked"),
    [("", "https://api.anthropic.com"), ("127.0.0.1:7", "https://127.0.0.1:7"), ("http://h/x", "http://h/x")],
)
def test_without_an_address_the_environment_counts_and_then_the_service(
    run: Run, monkeypatch: pytest.MonkeyPatch, address: str, is_asked: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    run("list", "their_echo:NOTED")
    assert sys.modules["their_echo"].SEEN[0].endpoint.base_url == is_asked
