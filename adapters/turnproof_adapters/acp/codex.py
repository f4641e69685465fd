"""Codex over the protocol: `@zed-industries/codex-acp`. Seen with 0.16.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from turnproof.agents import AgentSetup
from turnproof.sessions import SessionCapabilities

from .binding import agent_binding
from .program import Prepared, Program

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
    import tomli_w

    at = setup.endpoint
    bare = at.base_url.rstrip("/")
    settings: dict[str, Any] = {
        "model": at.model,
        "model_provider": "turnproof",
        "approval_policy": "never",
        "sandbox_mode": "read-only",
        "web_search": "disabled",
        "check_for_update_on_startup": False,
        "project_doc_max_bytes": 0,
        "include_apply_patch_tool": False,
        "model_providers": {
            "turnproof": {
                "name": "turnproof",
                "base_url": bare if bare.endswith("/v1") else f"{bare}/v1",
                "env_key": _KEY,
                "wire_api": "responses",
                "request_max_retries": 0,
                "stream_max_retries": 0,
                "supports_websockets": False,
            }
        },
        "features": {
            "plugins": False,
            "apps": False,
            "shell_tool": False,
            "unified_exec": False,
            "multi_agent": False,
        },
        "analytics": {"enabled": False},
    }
    if instructions is not None:
        settings["model_instructions_file"] = str(instructions)
    return tomli_w.dumps(settings)


CODEX = Program(
    name="codex_acp",
    command=("codex-acp",),
    install="npm install -g @zed-industries/codex-acp",
    prepare=prepare,
    asks=False,  # a call that it is told not to run ends its whole turn
    hangs_up=False,
    reports_usage=False,  # codex-acp 0.16 sends no token counts
)


AGENT = agent_binding(
    CODEX,
    dialect="openai-responses@codex",
    model="gpt-5.5",
    sessions=SessionCapabilities(can_list=True, can_load=True, can_continue_last=True),
)
