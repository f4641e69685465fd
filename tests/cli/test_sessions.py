"""`turnproof sessions` with an agent in this process and with a store: data, talk, exit codes, and who is meant."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from parrot import START, Parrot
from store.kit import echo_session

from turnproof.agents import AgentSetup
from turnproof.cli import main
from turnproof.config import load_config
from turnproof.provider import Endpoint
from turnproof.session.persistence import Connection
from turnproof.session.store import FileStore
from turnproof.sources.opening import default_home

AGENT = "parrot:AGENT"
HOMES = "turnproof/agents/parrot-AGENT"

BINDING = """
from turnproof.provider import Binding, Capabilities
from turnproof.subject import SessionBinding
from store.kit import Echo
OPENED = []
def opened(endpoint):
    OPENED.append(endpoint)
    return Echo()
ECHO = Binding(name="echo", dialect="anthropic-messages", model="m", capabilities=Capabilities(), open_stateless=opened)
SESSION = SessionBinding("theirs", open=None, send=None, history=None, adapter="their_echo:ECHO")
def broken(setup):
    raise RuntimeError("no licence")
from turnproof.agents import AgentBinding
BROKEN = AgentBinding("broken", "anthropic-messages", "m", broken)
SEEN = []
def noted(setup):
    from parrot import Parrot
    SEEN.append(setup)
    return Parrot(setup)
NOTED = AgentBinding("noted", "anthropic-messages", "m", noted, options={"depth": 1})
"""


class Done(NamedTuple):
    """How a command line ended."""

    code: int
    out: str
    err: list[str]


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder of its own, with the user's data beside it, and a key."""
    here = tmp_path / "here"
    here.mkdir()
    (here / ".git").mkdir()
    (here / "their_echo.py").write_text(BINDING)
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TURNPROOF_API_KEY", "key-1")
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "their_echo", raising=False)
    return here


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `turnproof sessions` with these words and this on stdin."""

    def run(*words: str, said: str = "", terminal: bool = False) -> Done:
        typed = io.StringIO(said)
        typed.isatty = lambda: terminal  # type: ignore[method-assign]
        monkeypatch.setattr(sys, "stdin", typed)
        code = main(["sessions", *words])
        out, err = capsys.readouterr()
        return Done(code, out, err.splitlines())

    return run


def home(folder: Path) -> Path:
    made = folder.parent / "data" / HOMES
    made.mkdir(parents=True, exist_ok=True)
    return made


def said(folder: Path, *turns: str, cwd: Path | None = None) -> str:
    """A session of the parrot in which this was said; its id."""
    setup = AgentSetup(Endpoint("http://127.0.0.1:1", "key", "m"), str(home(folder)), str(cwd or folder))
    agent = Parrot(setup)
    for text in turns:
        agent.send(text)
    assert agent.session_id is not None
    return agent.session_id


def conversation(folder: Path, session_id: str) -> list[str]:
    """What was said in a session of the parrot."""
    return [turn[0] for turn in json.loads((home(folder) / "sessions.json").read_text())[session_id]["said"]]


def rows(shown: str) -> list[str]:
    """The second column of a table: ids."""
    return [line.split()[1] for line in shown.splitlines()[1:]]


# -- list --------------------------------------------------------------------------------------------------------


def test_sessions_are_listed_newest_first_in_the_current_folder(folder: Path, run: Run) -> None:
    first, second, third = said(folder, "one"), said(folder, "two"), said(folder, "three")
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    other = said(folder, "far away", cwd=elsewhere)
    done = run("list", AGENT)
    assert done.code == 0
    assert rows(done.out) == [third, second, first]
    heading, newest = done.out.splitlines()[:2]
    assert heading.split() == ["#", "id", "updated", "cwd", "title", "problem"]
    assert newest.split() == ["1", third, "2026-11-22", "12:03Z", str(folder), "three"]
    assert rows(run("list", AGENT, "--cwd", str(elsewhere)).out) == [other]
    assert rows(run("list", AGENT, "--all", "--limit", "2").out) == [other, third]


def test_a_list_for_programs_has_a_schema_and_whole_times(folder: Path, run: Run) -> None:
    session = said(folder, "one\x1b[31m")
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
    assert done.err[0] == f"parrot has no session in {folder}; --all looks in every folder"
    done = run("list", AGENT, "--json", "--all")
    assert json.loads(done.out)["sessions"] == []
    assert done.err[0] == "parrot has no session"


def test_the_default_home_is_below_the_users_data(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("list", AGENT)
    assert (folder.parent / "data" / HOMES).stat().st_mode & 0o777 == 0o700
    for said in ("", "relative/path"):
        monkeypatch.setenv("XDG_DATA_HOME", said)
        monkeypatch.setenv("HOME", "/home/me")
        assert default_home("claude_agent") == Path("/home/me/.local/share/turnproof/agents/claude_agent")


# -- who keeps none ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("list",), "error: which agent? name one"),
        (("info",), "error: which agent? name one, and ID"),
        (("list", "anthropic"), "error: 'anthropic' is an adapter and keeps no sessions of its own; agents do ("),
        (("list", "reference"), "error: 'reference' is a session and keeps no sessions of its own; agents do ("),
        (("list", "their_echo:SESSION"), "error: 'their_echo:SESSION' is a session and keeps no sessions of its own"),
        (("list", "parot"), "error: unknown agent 'parot'"),
        (("list", "their_echo:BROKEN"), "error: broken: opening it failed: RuntimeError: no licence"),
        (("list", "parrot:FORGETFUL"), "error: parrot cannot list its sessions"),
        (("delete", "parrot:LISTS_ALONE", "1"), "error: parrot cannot delete sessions"),
        (("resume", "parrot:FORGETFUL", "x", "hi"), "error: parrot cannot resume a session"),
        (
            ("resume", "parrot:FORGETFUL", "--last", "hi"),
            "error: parrot cannot continue the last session",
        ),
        (("resume", "parrot:NO_LIST", "1", "hi"), "error: parrot has no list that 1 could be a number of: say the id"),
        (("resume", "parrot:LYING", "s1", "hi"), "error: parrot cannot do that: not today"),
        (("resume", "parrot:NO_LIST", "nobody", "hi"), "error: no conversation found with session id 'nobody'"),
        (("resume", AGENT, "nobody", "hi"), "error: parrot has no session 'nobody'"),
        (("resume", AGENT, "1", "hi"), "error: parrot has no session '1'"),
        (("resume", AGENT, "--last", "hi"), "error: parrot has no session in "),
        (("resume", AGENT, "--last", "--all", "hi"), "error: parrot has no session"),
        (("resume", AGENT), "error: which session? name it by its id"),
        (("resume", AGENT, "x", "hi", "there"), "error: too many words: put the prompt in quotes"),
        (("resume", AGENT, "x"), "error: the prompt is empty"),
        (("resume", AGENT, "x", "y", "--adapter", "anthropic"), "error: --adapter goes with --store"),
        (("info", AGENT), "error: one session: name it by its id"),
        (("delete", AGENT), "error: which session? name it by its id"),
        (("list", AGENT, "--cwd", "/w", "--all"), "error: --cwd: there is no folder /w"),
        (("list", AGENT, "--cwd", "/", "--all"), "error: --cwd names a folder and --all means every one"),
        (("list", AGENT, "--store", "."), "error: AGENT or --store: say one of them"),
        (("list", "--store", "nowhere"), "error: --store: there is no folder nowhere"),
        (("list", AGENT, "--option", "depth"), "error: --option 'depth': say KEY=VALUE"),
        (("list", AGENT, "--option", "api_key=k"), "error: parrot:AGENT: a key is no option: set TURNPROOF_API_KEY"),
        (("list", AGENT, "--home", "their_echo.py"), "cannot be made: File exists"),
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
    monkeypatch.setattr("turnproof.sources.opening.agent_names", lambda: ["claude_agent", "codex_agent"])
    assert "agents do (claude_agent, codex_agent; or name yours" in run("list", "anthropic").err[0]


def test_without_a_key_sessions_are_listed_and_not_gone_on_with(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = said(folder, "one")
    monkeypatch.delenv("TURNPROOF_API_KEY")
    assert rows(run("list", AGENT).out) == [session]
    done = run("resume", AGENT, "1", "two")
    assert (done.code, done.err[0]) == (
        2,
        f"error: {AGENT!r} needs a key: set TURNPROOF_API_KEY or ANTHROPIC_API_KEY",
    )
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-2")
    assert run("resume", AGENT, "1", "two").code == 0


# -- which one ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["s1-aaaaaa", "s1-a", "s1", "2"])
def test_a_session_is_named_by_id_by_its_beginning_or_by_number(folder: Path, run: Run, named: str) -> None:
    first = said(folder, "one")
    said(folder, "two")
    assert run("resume", AGENT, named, "more").code == 0
    assert conversation(folder, first) == ["one", "more"]


def test_a_beginning_that_fits_several_is_refused_and_names_them(folder: Path, run: Run) -> None:
    for text in "abcdefg":
        said(folder, text)
    done = run("info", AGENT, "s")
    assert done.code == 2
    assert "error: 's' could be any of s7-aaaaaa, " in done.err[0]
    assert done.err[0].endswith("and 2 more: say more of it")


def test_an_unknown_id_knows_what_was_meant(folder: Path, run: Run) -> None:
    said(folder, "one")
    done = run("info", AGENT, "s1-aaabaa")
    assert done.err[0] == "error: parrot has no session 's1-aaabaa'; did you mean 's1-aaaaaa'?"


def test_a_session_of_another_folder_is_found_by_its_id_and_gone_on_with_there(folder: Path, run: Run) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    session = said(folder, "one", cwd=elsewhere)
    assert run("resume", AGENT.replace("AGENT", "AGENT"), session, "two").code == 0
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
    here, far = said(folder, "here"), said(folder, "far", cwd=elsewhere)
    assert json.loads(run("info", AGENT, "1", "--json").out)["session"]["session_id"] == here
    assert json.loads(run("info", AGENT, "1", "--all", "--json").out)["session"]["session_id"] == far


# -- info --------------------------------------------------------------------------------------------------------


def test_a_session_is_told_with_its_conversation_in_few_lines(folder: Path, run: Run) -> None:
    session = said(folder, "hello\nthere", "look", "x" * 1000)
    done = run("info", AGENT, "1")
    assert (done.code, done.err) == (0, ["exit 0: ok"])
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
    said(folder, "look", "x" * 1000)
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
    said(folder, "one")
    done = run("info", "parrot:LISTS_ALONE", "1", "--home", str(home(folder)))
    assert done.code == 0
    assert "can      list\n" in done.out
    assert done.err[0] == "what was said in it cannot be told: parrot cannot load a session"


def test_a_session_that_cannot_be_resumed_is_shown_with_the_reason(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = said(folder, "one")
    real = Parrot.__init__

    def damaged(self: Parrot, *args: Any) -> None:
        real(self, *args)
        self.broken = {session}

    monkeypatch.setattr(Parrot, "__init__", damaged)
    assert run("list", AGENT).out.splitlines()[1].endswith("damaged")
    done = run("info", AGENT, "1")
    assert (done.code, done.err[0]) == (0, "what was said in it cannot be told: damaged")
    assert "problem  damaged" in done.out
    done = run("resume", AGENT, "1", "two")
    assert done.err[0] == f"error: session {session!r} cannot be resumed: damaged"
    assert run("resume", AGENT, "--last", "two").code == 2, "it is no last session either"


# -- resume ------------------------------------------------------------------------------------------------------


def test_the_answer_is_data_and_the_session_is_talk(folder: Path, run: Run) -> None:
    session = said(folder, "one")
    done = run("resume", AGENT, session, "two words")
    assert done == (0, "You said: two words\n", [f"session: {session}", "exit 0: ok"])
    assert conversation(folder, session) == ["one", "two words"]


def test_an_agent_that_does_not_stream_is_shown_at_the_end(folder: Path, run: Run) -> None:
    said(folder, "one")
    assert run("resume", AGENT, "1", "silent").out == "You said: silent\n"


def test_the_last_session_is_gone_on_with(folder: Path, run: Run) -> None:
    first, second = said(folder, "one"), said(folder, "two")
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    third = said(folder, "three", cwd=elsewhere)
    assert run("resume", AGENT, "--last", "more").err[0] == f"session: {second}"
    assert run("resume", AGENT, "--last", "more", "--cwd", str(elsewhere)).err[0] == f"session: {third}"
    assert run("resume", AGENT, first, "more").code == 0
    assert run("resume", AGENT, "--last", "--all", "most").err[0] == f"session: {first}"


@pytest.mark.parametrize("words", [("1",), ("1", "-"), ("--last",), ("--last", "-")])
def test_without_a_prompt_it_is_read_from_stdin(folder: Path, run: Run, words: Sequence[str]) -> None:
    session = said(folder, "one")
    assert run("resume", AGENT, *words, said="from a file\nof lines\n").code == 0
    assert conversation(folder, session)[-1] == "from a file\nof lines"
    assert "the prompt, and Ctrl-D" in run("resume", AGENT, "1", said="typed", terminal=True).err[0]


def test_what_steers_a_terminal_is_shown_as_its_escape(folder: Path, run: Run) -> None:
    said(folder, "one")
    assert run("resume", AGENT, "1", "red\x1b[31m").out == "You said: red\\x1b[31m\n"


def test_a_turn_that_fails_shows_what_had_arrived_and_ends_with_2(folder: Path, run: Run) -> None:
    session = said(folder, "one")
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
    ("said", "is_asked"),
    [("", "https://api.anthropic.com"), ("127.0.0.1:7", "https://127.0.0.1:7"), ("http://h/x", "http://h/x")],
)
def test_without_an_address_the_environment_counts_and_then_the_service(
    run: Run, monkeypatch: pytest.MonkeyPatch, said: str, is_asked: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", said)
    run("list", "their_echo:NOTED")
    assert sys.modules["their_echo"].SEEN[0].endpoint.base_url == is_asked


def interrupted(folder: Path, *words: str, times: int = 1) -> Done:
    """A real process, and Ctrl-C when the agent has said something."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from turnproof.cli import main; sys.exit(main())", "sessions", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    began = process.stdout.read(len("I was"))
    for number in range(times):
        if number:
            time.sleep(0.3)  # a second Ctrl-C counts only when the first was heard
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, began + out, err.splitlines())


def test_ctrl_c_cancels_the_turn_and_shows_what_had_arrived(folder: Path, run: Run) -> None:
    session = said(folder, "one")
    done = interrupted(folder, "resume", AGENT, "1", "wait")
    assert done == (130, "I was\n", [f"session: {session}", "exit 130: interrupted"])
    assert conversation(folder, session) == ["one", "wait"]
    assert run("resume", AGENT, "1", "again").code == 0


def test_a_second_ctrl_c_is_not_waited_for(folder: Path) -> None:
    said(folder, "one")
    done = interrupted(folder, "resume", "their_echo_deaf:DEAF", "1", "wait", "--home", str(home(folder)), times=2)
    assert (done.code, done.out) == (130, "I was\n")


@pytest.fixture(autouse=True)
def deaf(folder: Path) -> None:
    """An agent that does not listen to its token."""
    (folder / "their_echo_deaf.py").write_text(
        "import threading\n"
        "from parrot import Parrot\n"
        "from turnproof.agents import AgentBinding\n"
        "from turnproof.cancel import CancelToken\n"
        "class Deaf(Parrot):\n"
        "    def send(self, content, **options):\n"
        "        return super().send(content, **{**options, 'cancel_token': CancelToken()})\n"
        "DEAF = AgentBinding('deaf', 'anthropic-messages', 'm', Deaf)\n"
    )


# -- the settings of a project -----------------------------------------------------------------------------------


def configured(folder: Path, **settings: Any) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (folder / "turnproof.toml").write_text("\n".join([f"[agents.{json.dumps(AGENT)}]", *lines]))


def test_the_session_of_the_settings_is_gone_on_with_and_a_single_word_is_the_prompt(folder: Path, run: Run) -> None:
    first, second = said(folder, "one"), said(folder, "two")
    configured(folder, session=first)
    assert run("resume", AGENT, "by name").err[0] == f"session: {first}"
    configured(folder, continue_last=True)
    said(folder, "three")
    assert run("resume", AGENT, said="the last").err[0] == "session: s3-cccccc"
    assert run("resume", AGENT, second, "another").err[0] == f"session: {second}"
    assert conversation(folder, first) == ["one", "by name"]
    assert conversation(folder, "s3-cccccc") == ["three", "the last"]


def test_a_session_of_the_settings_that_is_gone_costs_a_line_and_no_turn(folder: Path, run: Run) -> None:
    said(folder, "one")
    configured(folder, session="gone")
    done = run("resume", AGENT, "hello")
    assert done == (0, "You said: hello\n", ["session: s2-bbbbbb (asked for: gone)", "exit 0: ok"])
    configured(folder, session="gone", continue_last=True)
    assert run("resume", AGENT, "and on").err[0] == "session: s2-bbbbbb (asked for: gone)"


def test_settings_are_relative_to_their_folder_and_the_command_line_wins(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "turnproof.toml").write_text(
        '[agents."their_echo:NOTED"]\n'
        'home = "agents/mine"\nprogram = "bin/parrot"\nsystem = "be kind"\nbase_url = "http://127.0.0.1:8"\n'
        "[agents.\"their_echo:NOTED\".options]\ndepth = 5\nflags = ['a', 'b']\n"
    )
    (folder / "below").mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder / "below")
    run("list", "their_echo:NOTED=other")
    run("list", "their_echo:NOTED", "--option", "depth=6", "--option", "program=mine", "--base-url", "http://h")
    first, second = sys.modules["their_echo"].SEEN
    assert (first.home, first.system) == (str(folder / "agents" / "mine"), "be kind")
    assert first.endpoint.base_url == "http://127.0.0.1:8"
    assert first.endpoint.options == {"depth": 5, "flags": ["a", "b"], "program": str(folder / "bin" / "parrot")}
    assert second.endpoint.base_url == "http://h"
    assert second.endpoint.options == {"depth": 6, "flags": ["a", "b"], "program": "mine"}


def test_a_program_by_its_bare_name_is_left_to_the_agent(folder: Path, run: Run) -> None:
    (folder / "turnproof.toml").write_text('[agents."their_echo:NOTED"]\nprogram = "parrot"\n')
    run("list", "their_echo:NOTED")
    assert sys.modules["their_echo"].SEEN[0].endpoint.options == {"depth": 1, "program": "parrot"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[agents.x]\nhom = 'a'", "$.agents.x: unknown key 'hom'; did you mean 'home'?"),
        ("[agents.x]\nhome = 3", "$.agents[...].home: Expected `str`, got `int`"),
        ("[agents]\nx = 3", "$.agents[...]: Expected `object`, got `int`"),
    ],
)
def test_settings_are_read_strictly(folder: Path, run: Run, line: str, says: str) -> None:
    (folder / "turnproof.toml").write_text(line)
    done = run("list", AGENT)
    assert done.code == 2
    assert done.err[0] == f"error: {folder / 'turnproof.toml'}: {says}"


# -- delete ------------------------------------------------------------------------------------------------------


def test_sessions_are_deleted_by_name_and_number_as_they_stood_in_the_list(folder: Path, run: Run) -> None:
    first, second, third = said(folder, "one"), said(folder, "two"), said(folder, "three")
    done = run("delete", AGENT, "1", first, "3", "--yes")
    assert (done.code, done.out.split()) == (0, [third, first])
    assert rows(run("list", AGENT).out) == [second]


def test_without_a_terminal_nothing_is_deleted_unless_yes_is_said(folder: Path, run: Run) -> None:
    session = said(folder, "one")
    done = run("delete", AGENT, "1", said="y\n")
    assert (done.code, done.out) == (2, "")
    assert done.err[0].endswith("for good: add --yes")
    assert rows(run("list", AGENT).out) == [session]


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("Yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_on_a_terminal_a_person_is_asked(folder: Path, run: Run, answer: str, left: int) -> None:
    session = said(folder, "one")
    done = run("delete", AGENT, "1", said=answer, terminal=True)
    assert done.code == 0
    assert done.out == (f"{session}\n" if not left else "")
    assert done.err[0] == f"{session} one"
    assert "delete this session of parrot for good?" in done.err[1]
    assert ("nothing was deleted" in " ".join(done.err)) is bool(left)
    assert len(run("list", AGENT, "--json").out.split("session_id")) == left + 1


def test_an_unknown_one_among_several_leaves_all(folder: Path, run: Run) -> None:
    session = said(folder, "one")
    assert run("delete", AGENT, "1", "nobody", "--yes").code == 2
    assert rows(run("list", AGENT).out) == [session]


# -- a store -----------------------------------------------------------------------------------------------------


@pytest.fixture
def store(folder: Path) -> FileStore:
    """Two sessions, an hour apart."""
    kept = FileStore("kept", clock=iter(range(1_700_000_000, 1_790_000_000, 3600)).__next__)
    for name, text in (("alpha", "look here"), ("beta", "hello")):
        with kept.create(echo_session(), session_id=name, connection=Connection("echo", "old-model")) as session:
            session.send(text)
    return kept


def test_the_sessions_of_a_store_are_listed_and_told_also_while_they_are_open(store: FileStore, run: Run) -> None:
    assert rows(run("list", "--store", "kept").out) == ["beta", "alpha"]
    assert run("list", "--store", "kept", "--cwd", ".").err[0].startswith("the store kept has no session in ")
    with store.resume(echo_session(), "alpha"):
        done = run("info", "--store", "kept", "2")
    assert done.code == 0
    assert "user: look here" in done.out
    assert 'model: calls look {"at": "look here"}' in done.out


def test_a_session_of_a_store_goes_on_with_an_adapter_and_the_model_it_had(store: FileStore, run: Run) -> None:
    done = run("resume", "--store", "kept", "--adapter", "their_echo:ECHO", "beta", "and on", "--system", "be brief")
    assert done == (0, "You said: and on\n", ["session: beta", "exit 0: ok"])
    state = store.load("beta").state
    assert [one.text for one in state.inputs] == ["hello", "and on"]
    assert state.system == "be brief"
    assert sys.modules["their_echo"].OPENED[0].model == "old-model"
    assert run("resume", "--store", "kept", "--adapter", "their_echo:ECHO=new", "--last", "more").code == 0
    assert sys.modules["their_echo"].OPENED[1].model == "new"
    assert store.load("beta").state.connection == Connection("echo", "new")


def test_a_store_alone_has_nobody_who_answers(store: FileStore, run: Run) -> None:
    done = run("resume", "--store", "kept", "beta", "and on")
    assert (done.code, done.err[0]) == (2, "error: a store has no model: say with --adapter NAME who is to go on")


def test_a_session_of_a_store_that_is_open_elsewhere_is_refused(store: FileStore, run: Run) -> None:
    with store.resume(echo_session(), "beta"):
        for words in (("resume", "--adapter", "their_echo:ECHO", "beta", "x"), ("delete", "beta", "--yes")):
            done = run(*words, "--store", "kept")
            assert done.code == 2
            assert "session 'beta' is open in " in done.err[0]
    assert run("delete", "--store", "kept", "be", "--yes").out == "beta\n"
    assert [info.session_id for info in store.list_sessions().sessions] == ["alpha"]


def test_the_last_of_an_empty_store_is_nobody(folder: Path, run: Run) -> None:
    (folder / "empty").mkdir()
    done = run("resume", "--store", "empty", "--adapter", "their_echo:ECHO", "--last", "x")
    assert (done.code, done.err[0]) == (2, "error: the store empty has no session")


def test_help_has_every_command(run: Run) -> None:
    done = run("--help")
    assert done.code == 0
    for name in ("list", "info", "resume", "delete"):
        assert f"  {name} " in done.out
        assert run(name, "--help").code == 0
    assert "TURNPROOF_API_KEY" in done.out


def test_no_key_ever_stands_in_what_is_shown(folder: Path, run: Run) -> None:
    said(folder, "one")
    for words in (("list", AGENT, "--json"), ("info", AGENT, "1", "--json"), ("resume", AGENT, "1", "x")):
        done = run(*words)
        assert "key-1" not in done.out + " ".join(done.err)


def test_the_settings_on_the_page_are_read(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sessions.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, flags=re.DOTALL)
    (folder / "pyproject.toml").write_text(text)
    settings = load_config(folder).settings.agents["claude_agent"]
    assert (settings.program, settings.continue_last) == ("tools/claude", True)
    assert all(getattr(settings, name) for name in settings.__struct_fields__), "every key is on the page"
