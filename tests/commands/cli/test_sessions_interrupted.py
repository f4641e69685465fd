"""Ctrl-C in `turnproof sessions resume`, in a real process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .kit import AGENT, Done, Run, conversation, home, start_session


@pytest.fixture
def deaf(folder: Path) -> str:
    """The name of an agent that does not listen to its token, and says on stderr when that was set."""
    (folder / "their_echo_deaf.py").write_text(
        "import sys\n"
        "from parrot import Parrot\n"
        "from turnproof.agents import AgentBinding\n"
        "from turnproof.cancel import CancelToken\n"
        "class Deaf(Parrot):\n"
        "    def send(self, content, **options):\n"
        "        options['cancel_token'].on_cancel(lambda: print('set', file=sys.stderr, flush=True))\n"
        "        return super().send(content, **{**options, 'cancel_token': CancelToken()})\n"
        "DEAF = AgentBinding('deaf', 'anthropic-messages', 'm', Deaf)\n"
    )
    return "their_echo_deaf:DEAF"


def interrupted(folder: Path, *words: str, times: int = 1) -> Done:
    """A real process, and Ctrl-C when the agent has said something; another one when the first was heard."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from turnproof.commands.cli import main; sys.exit(main())",
            "sessions",
            *words,
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    began = process.stdout.read(len("I was"))
    for number in range(times):
        if number:
            assert process.stderr.readline() == "set\n"
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, began + out, err.splitlines())


def test_ctrl_c_cancels_the_turn_and_shows_what_had_arrived(folder: Path, run: Run) -> None:
    session = start_session(folder, "one")
    done = interrupted(folder, "resume", AGENT, "1", "wait")
    assert done == (130, "I was\n", [f"session: {session}", "exit 130: interrupted"])
    assert conversation(folder, session) == ["one", "wait"]
    assert run("resume", AGENT, "1", "again").code == 0


def test_a_second_ctrl_c_is_not_waited_for(folder: Path, deaf: str) -> None:
    start_session(folder, "one")
    done = interrupted(folder, "resume", deaf, "1", "wait", "--home", str(home(folder)), times=2)
    assert (done.code, done.out) == (130, "I was\n")
