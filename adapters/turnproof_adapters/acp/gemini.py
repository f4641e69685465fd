"""Gemini CLI over the protocol: `gemini --acp` of `@google/gemini-cli`. Seen with 0.61.0.

It lists no sessions. A session that is loaded within the minute in which it was begun, or loaded before, it would
delete: the file of a session is named by the minute in which it was opened, and one that is there already counts for
nothing. So what is stored is renamed before it is loaded. After a load it sends every result of a tool twice, which
Google's API refuses: a session in which a tool was called cannot be gone on with, and nothing can be done about that
here.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from turnproof.agents import AgentSetup
from turnproof.sessions import SessionCapabilities

from ..claude_cli.tools import PREFIX, SERVER, wire_name
from .binding import agent_binding
from .program import Prepared, Program

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "maxAttempts": 1,
        "sessionRetention": {"enabled": False},  # it goes by the names of the files
    },
    "telemetry": {"enabled": False},
}

_PREFIX = f"mcp_{SERVER}_"


def prepare(setup: AgentSetup) -> Prepared:
    """The endpoint goes into the environment, its ways into its settings, the system text into a file of its own."""
    folder = Path(setup.home).absolute() / ".gemini"
    folder.mkdir(parents=True, exist_ok=True)
    # What stands here is all that it offers to the model, and runs without asking; its own tools are not among it.
    names = [_PREFIX + wire_name(tool.schema.name).removeprefix(PREFIX) for tool in setup.tools]
    (folder / "settings.json").write_text(json.dumps({**_SETTINGS, "tools": {"core": names}}), "utf-8")
    own = {
        "GEMINI_API_KEY": setup.endpoint.api_key,
        "GOOGLE_GEMINI_BASE_URL": setup.endpoint.base_url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }
    instructions = folder / "system.md"
    instructions.write_text(setup.system or " ", "utf-8")
    own["GEMINI_SYSTEM_MD"] = str(instructions)
    return Prepared(environment=own, arguments=("--acp", "-m", setup.endpoint.model), instructed=True)


def make_room(home: Path, session: str) -> None:
    """Give what is stored of a session a name of long ago; the empty beginnings that loads have left are put aside."""
    stored = (home / ".gemini" / "tmp").glob(f"*/chats/session-*-{session[:8]}.jsonl")
    files = sorted(stored, key=lambda file: file.stat().st_size)
    for earlier_file in files[:-1]:
        earlier_file.rename(f"{earlier_file}.aside")
    for whole in files[-1:]:
        whole.rename(whole.with_name(f"session-2000-01-01T00-00-{session[:8]}.jsonl"))


GEMINI = Program(
    name="gemini_acp",
    command=("gemini",),
    install="npm install -g @google/gemini-cli",
    prepare=prepare,
    asks=False,
    replays_late=True,
    before_load=make_room,
    parses=True,
    noise=re.compile(r"<session_context>.*?</session_context>|\[Function Response: [^\]]*\]", re.DOTALL),
)


AGENT = agent_binding(
    GEMINI,
    dialect="gemini@gemini-cli",
    model="gemini-2.5-flash",
    sessions=SessionCapabilities(can_load=True),
)
