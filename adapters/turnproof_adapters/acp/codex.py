"""Codex over the protocol: `@zed-industries/codex-acp`. Seen with 0.16.0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.provider import Capabilities
from turnproof.sessions import SessionCapabilities

from .program import Prepared, Program

if TYPE_CHECKING:
    from .agent import AcpAgent

_KEY = "TURNPROOF_AGENT_KEY"


def prepare(setup: AgentSetup) -> Prepared:
    """All but the key goes into `config.toml` below the home; the system text into a file that it names."""
    folder = Path(setup.home).absolute() / ".codex"
    folder.mkdir(parents=True, exist_ok=True)
    # An empty file is refused: without a system text the program says what it always says.
    instructions = folder / "instructions.md" if (setup.system or "").strip() else None
    if instructions is not None:
        instructions.write_text(setup.system or "", "utf-8")
    (folder / "config.toml").write_text(_config(setup, instructions), "utf-8")
    return Prepared(
        environment={"CODEX_HOME": str(folder), _KEY: setup.endpoint.api_key, "NO_BROWSER": "1"}, instructed=True
    )


def _config(setup: AgentSetup, instructions: Path | None) -> str:
    at = setup.endpoint
    told = "" if instructions is None else f"model_instructions_file = {_quoted(str(instructions))}"
    bare = at.base_url.rstrip("/")
    address = bare if bare.endswith("/v1") else f"{bare}/v1"
    return f"""\
model = {_quoted(at.model)}
model_provider = "turnproof"
{told}
approval_policy = "never"
sandbox_mode = "read-only"
web_search = "disabled"
check_for_update_on_startup = false
project_doc_max_bytes = 0
include_apply_patch_tool = false

[model_providers.turnproof]
name = "turnproof"
base_url = {_quoted(address)}
env_key = "{_KEY}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[features]
plugins = false
apps = false
shell_tool = false
unified_exec = false
multi_agent = false

[analytics]
enabled = false
"""


def _quoted(text: str) -> str:
    """A basic string of TOML: JSON's escapes are among its own."""
    return json.dumps(text)


CODEX = Program(
    name="codex_acp",
    command=("codex-acp",),
    install="npm install -g @zed-industries/codex-acp",
    prepare=prepare,
    asks=False,  # a call that it is told not to run ends its whole turn
    hangs_up=False,
)


def open_agent(setup: AgentSetup) -> AcpAgent:
    """An agent; its program is started when it is needed."""
    from .agent import AcpAgent

    return AcpAgent(CODEX, setup)


AGENT = AgentBinding(
    name="codex_acp",
    dialect="openai-responses@codex",
    model="gpt-5.5",
    open=open_agent,
    capabilities=Capabilities(
        streaming=True, tools=True, parallel_tools=True, images=True, cancel=True, cancel_batch=True, typed_errors=True
    ),
    sessions=SessionCapabilities(can_list=True, can_load=True, can_continue_last=True),
    package="agent-client-protocol",
    program=lambda agent: agent.program,
)
