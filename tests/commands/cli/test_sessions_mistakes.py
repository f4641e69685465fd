"""Mistakes with `turnproof sessions`: one clear line, exit code 2; and what is never shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from turnproof.agents import AgentBinding
from turnproof.errors import BindingError

from .kit import AGENT, Run, rows, start_session


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("list",), "error: which agent? name one"),
        (("info",), "error: which agent? name one, and ID"),
        (("list", "anthropic"), "error: 'anthropic' is an adapter and keeps no sessions; agents do ("),
        (("list", "reference"), "error: 'reference' is a session and keeps no sessions; agents do ("),
        (("list", "their_echo:SESSION"), "error: 'their_echo:SESSION' is a session and keeps no sessions"),
        (("list", "parot"), "error: unknown agent 'parot'"),
        (("list", "their_echo:BROKEN"), "error: broken: opening it failed: RuntimeError: no licence"),
        (("list", "parrot:FORGETFUL"), "error: parrot cannot list its sessions"),
        (("delete", "parrot:LISTS_ALONE", "1"), "error: parrot cannot delete sessions"),
        (("resume", "parrot:FORGETFUL", "x", "hi"), "error: parrot cannot resume a session"),
        (
            ("resume", "parrot:FORGETFUL", "--last", "hi"),
            "error: parrot cannot continue the last session",
        ),
        (
            ("resume", "parrot:NO_LIST", "1", "hi"),
            "error: parrot has no list that 1 could be a number in: write the id",
        ),
        (("resume", "parrot:LYING", "s1", "hi"), "error: parrot cannot do that: not today"),
        (("resume", "parrot:NO_LIST", "nobody", "hi"), "error: no conversation found with session id 'nobody'"),
        (("resume", AGENT, "nobody", "hi"), "error: parrot has no session 'nobody'"),
        (("resume", AGENT, "1", "hi"), "error: parrot has no session '1'"),
        (("resume", AGENT, "--last", "hi"), "error: parrot has no session in "),
        (("resume", AGENT, "--last", "--all", "hi"), "error: parrot has no session"),
        (("resume", AGENT), "error: which session? name it by its id"),
        (("resume", AGENT, "x", "hi", "there"), "error: too many words: put the prompt in quotes"),
        (("resume", AGENT, "x"), "error: parrot has no session 'x'; it has none at all"),
        (("resume", AGENT, "x", "y", "--adapter", "anthropic"), "error: --adapter goes with --store"),
        (("info", AGENT), "error: one session: name it by its id"),
        (("delete", AGENT), "error: which session? name it by its id"),
        (("list", AGENT, "--cwd", "/w", "--all"), "error: --cwd: there is no folder /w"),
        (("list", AGENT, "--cwd", "/", "--all"), "error: --cwd names a folder and --all means every folder"),
        (("list", AGENT, "--store", "."), "error: AGENT or --store: use one of them"),
        (("list", "--home", ".", "--store", "."), "error: --home is the folder of an agent"),
        (("list", "--store", "nowhere"), "error: --store: there is no folder nowhere in /"),
        (("list", AGENT, "--option", "depth"), "error: --option 'depth': write KEY=VALUE"),
        (("list", AGENT, "--option", "api_key=k"), "error: parrot:AGENT: a key is no option: set TURNPROOF_API_KEY"),
        (("list", AGENT, "--home", "their_echo.py"), "cannot be made: File exists"),
        ((), "error: which command? list, info, resume or delete; `turnproof sessions --help`"),
        (("list", "long " * 100), "error: unknown agent 'long long "),
        (("list", "."), "error: '.' is a folder and no agent; for the sessions in it use --store ."),
        (("info", "--store", ".", AGENT, "1"), "error: one session, not 2: name it by its id"),
        (
            ("resume", "--store", ".", "--adapter", "their_echo:ECHO", AGENT, "1", "hi"),
            "with --store no AGENT is named",
        ),
        (("resume", AGENT, "--last", "x", "hi"), "put the prompt in quotes; --last replaces the ID"),
        (("resume", AGENT, "hello there"), "(put the prompt in quotes, after an ID or --last)"),
        (("resume", AGENT, "--last"), "error: the prompt is empty: write it after the ID or --last"),
        (("resume", AGENT, "--last", " "), "error: the prompt is empty: write it after the ID or --last"),
        (("delete", AGENT, "x", "--yes"), "(nothing was deleted)"),
        (("delete", "parrot:LISTS_ALONE", "1"), "; what it can do with sessions: list"),
        (("list", "parrot:FORGETFUL"), "; what it can do with sessions: nothing"),
        (("lst", AGENT), "error: No such command 'lst'"),
    ],
)
def test_every_mistake_is_one_clear_line_and_exit_code_2(run: Run, words: Sequence[str], says: str) -> None:
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    line, last = done.err
    assert says in line
    assert last == "exit 2: usage, environment or harness fault"


def test_agents_are_named_where_something_else_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "turnproof.commands.session_sources.open_source.agent_names", lambda: ["claude_agent", "codex_agent"]
    )
    assert "agents do (claude_agent, codex_agent; or name yours" in run("list", "anthropic").err[0]


def test_an_installed_agent_that_does_not_load_is_not_taken_for_a_folder_of_its_name(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> AgentBinding:
        raise BindingError(f"{name}: there is no module 'their_sdk'")

    (folder / "theirs").mkdir()
    assert run("list", "theirs").err[0].startswith("error: 'theirs' is a folder and no agent; ")
    monkeypatch.setattr("turnproof.commands.session_sources.open_source.agent_names", lambda: ["theirs"])
    monkeypatch.setattr("turnproof.commands.session_sources.open_source.resolve_agent", missing)
    assert run("list", "theirs").err[0] == "error: theirs: there is no module 'their_sdk'"


def test_without_a_key_sessions_are_listed_and_not_gone_on_with(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(folder, "one")
    monkeypatch.delenv("TURNPROOF_API_KEY")
    assert rows(run("list", AGENT).out) == [session]
    done = run("resume", AGENT, "1", "two")
    assert (done.code, done.err[0]) == (
        2,
        f"error: {AGENT!r} needs a key: set TURNPROOF_API_KEY or ANTHROPIC_API_KEY in the environment",
    )
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-2")
    assert run("resume", AGENT, "1", "two").code == 0


def test_help_has_every_command(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    for name in ("list", "info", "resume", "delete"):
        assert f"  {name} " in done.out
        assert run(name, "--help").code == 0
    assert "TURNPROOF_API_KEY" in done.out


def test_no_key_ever_stands_in_what_is_shown(folder: Path, run: Run) -> None:
    start_session(folder, "one")
    for words in (("list", AGENT, "--json"), ("info", AGENT, "1", "--json"), ("resume", AGENT, "1", "x")):
        done = run(*words)
        assert "key-1" not in done.out + " ".join(done.err)
