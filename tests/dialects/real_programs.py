"""The real programs behind the surfaces, each in a home of its own, told what to say to the emulator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

import pytest

from turnproof.wire.emulator.server_run import CANARY_KEY

SYSTEM = "You keep a greenhouse log."
_SERVER = Path(__file__).with_name("sensor_server.py")
_LIMIT = 60.0
"""Seconds for a turn; a program that hangs is ended with all that it has started."""


@dataclass(frozen=True)
class ProgramRun:
    """What became of one run of a program."""

    code: int
    events: Sequence[Mapping[str, object]]
    errors: str


class Program(Protocol):
    """A program in a home of its own. `say` is one turn; every one but the first goes on with the first's session."""

    variable: ClassVar[str]
    dialect: ClassVar[str]
    model: ClassVar[str]

    def __init__(self, home: Path, base_url: str) -> None: ...

    def say(self, words: str, model: str | None = None) -> ProgramRun: ...


def named_by(variable: str) -> str:
    """The program that the variable names; the test is skipped without it."""
    found = os.environ.get(variable)
    if not found:
        pytest.skip(f"{variable} names no program (`nox -s agents` installs what it can name)")
    return found


class Codex(Program):
    """`codex exec`, with its sessions in `CODEX_HOME`."""

    variable = "TURNPROOF_CODEX"
    dialect = "openai-responses@codex"
    model = "gpt-5.5"
    websockets: ClassVar[bool] = False
    retries: ClassVar[int] = 0

    def __init__(self, home: Path, base_url: str) -> None:
        self._home = home
        self._session: str | None = None
        self._settings = home / ".codex"
        self._settings.mkdir()
        instructions = home / "system.md"
        instructions.write_text(SYSTEM)
        (self._settings / "config.toml").write_text(
            f"""
model_provider = "emulator"
approval_policy = "never"
check_for_update_on_startup = false
model_instructions_file = "{instructions}"
model_reasoning_summary = "auto"
[model_providers.emulator]
name = "emulator"
base_url = "{base_url}"
env_key = "EMULATOR_KEY"
wire_api = "responses"
supports_websockets = {str(self.websockets).lower()}
request_max_retries = 0
stream_max_retries = {self.retries}
[features]
plugins = false
apps = false
[analytics]
enabled = false
[mcp_servers.session]
command = "{sys.executable}"
args = ["{_SERVER}"]
default_tools_approval_mode = "approve"
"""
        )

    def say(self, words: str, model: str | None = None) -> ProgramRun:
        how = ["resume"] if self._session else []
        which = [self._session] if self._session else []
        flags = ["--json", "--skip-git-repo-check", "-m", model or self.model]
        command = [named_by(self.variable), "exec", *how, *flags, *which, words]
        outcome = _run(command, self._home, {"CODEX_HOME": str(self._settings), "EMULATOR_KEY": CANARY_KEY})
        for event in outcome.events:
            if event.get("type") == "thread.started":
                self._session = str(event["thread_id"])
        return outcome


class CodexOnSockets(Codex):
    """The same where the connection owns the conversation; a broken answer is asked for again."""

    websockets = True
    retries = 1


class GeminiCli(Program):
    """`gemini -p`, with its sessions in its home."""

    variable = "TURNPROOF_GEMINI"
    dialect = "gemini@gemini-cli"
    model = "gemini-3.1-pro-preview"

    def __init__(self, home: Path, base_url: str) -> None:
        self._home, self._base_url, self._has_session = home, base_url, False
        (home / ".gemini").mkdir()
        (home / "system.md").write_text(SYSTEM)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 1},
            "telemetry": {"enabled": False},
            # No tool of its own: with an empty list it would offer none of the servers' either.
            "tools": {"core": ["mcp_session_*"]},
            "mcpServers": {"session": {"command": sys.executable, "args": [str(_SERVER)], "trust": True}},
        }
        (home / ".gemini" / "settings.json").write_text(json.dumps(settings))

    def say(self, words: str, model: str | None = None) -> ProgramRun:
        resumed = ["--resume", "latest"] if self._has_session else []
        flags = ["-o", "stream-json", "-m", model or self.model, *resumed]
        self._has_session = True
        variables = {
            "GEMINI_API_KEY": CANARY_KEY,
            "GOOGLE_GEMINI_BASE_URL": self._base_url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_SYSTEM_MD": str(self._home / "system.md"),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
        }
        return _run([named_by(self.variable), "-p", words, *flags], self._home, variables)


def _run(command: Sequence[str], home: Path, variables: Mapping[str, str]) -> ProgramRun:
    folder, scratch = home / "work", home / "tmp"
    folder.mkdir(exist_ok=True)
    scratch.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(scratch), "LANG": "C.UTF-8"}
    child = subprocess.Popen(
        command,
        env={**environment, **variables},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, errors = child.communicate(timeout=_LIMIT)
    except subprocess.TimeoutExpired:
        # What is started here leads a group of its own: its launcher would leave the real process behind.
        os.killpg(child.pid, 9)
        out, errors = child.communicate()
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return ProgramRun(child.returncode, events, errors)
