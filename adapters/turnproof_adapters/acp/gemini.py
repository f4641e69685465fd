"""Gemini CLI over the protocol: `gemini --acp` of `@google/gemini-cli`. Seen with 0.61.0.

It lists no sessions, and cannot be relied on to load one: within the minute in which a session was begun or loaded,
loading it fails and deletes what was stored of it. So nothing is claimed of its sessions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.provider import Capabilities
from turnproof.sessions import SessionCapabilities

from ..claude_cli.tools import PREFIX, SERVER, wire_name
from .program import Prepared, Program

if TYPE_CHECKING:
    from .agent import AcpAgent

_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "maxAttempts": 1,
        "sessionRetention": {"enabled": False},
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


GEMINI = Program(
    name="gemini_acp",
    command=("gemini",),
    install="npm install -g @google/gemini-cli",
    prepare=prepare,
    asks=False,
    replays_late=True,
)


def open_agent(setup: AgentSetup) -> AcpAgent:
    """An agent; its program is started when it is needed."""
    from .agent import AcpAgent

    return AcpAgent(GEMINI, setup)


AGENT = AgentBinding(
    name="gemini_acp",
    dialect="gemini@gemini-cli",
    model="gemini-2.5-flash",
    open=open_agent,
    capabilities=Capabilities(
        streaming=True, tools=True, parallel_tools=True, images=True, cancel=True, cancel_batch=True, typed_errors=True
    ),
    sessions=SessionCapabilities(can_load=True),
    package="agent-client-protocol",
)
