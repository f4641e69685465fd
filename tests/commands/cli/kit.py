"""What the tests of `turnproof sessions` share: agents and adapters of somebody's own, and what a parrot keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from parrot import Parrot

from turnproof.agents import AgentSetup
from turnproof.provider import Endpoint

AGENT = "parrot:AGENT"
HOMES = "turnproof/agents/parrot-AGENT"

BINDING = """
from turnproof.provider import Binding, Capabilities
from turnproof.subject import SessionBinding
from session.store.kit import Echo
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


def home(folder: Path) -> Path:
    path = folder.parent / "data" / HOMES
    path.mkdir(parents=True, exist_ok=True)
    return path


def start_session(folder: Path, *turns: str, cwd: Path | None = None) -> str:
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
