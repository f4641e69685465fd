"""The program itself: where it is, how it is started, and what of the user's own world it may see."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import get_ident
from typing import Any
from uuid import UUID

from turnproof.errors import UsageError

from .._program import find_program, passed_environment
from .tools import CONFIG

NAME = "claude"

_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",  # whoever drives the adapter tries again
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_COMPACT": "1",  # the history is the caller's, and so is what is left out of it
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}

_WHOLE = {
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH": "1000000",
    "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS": "0",
    "CLAUDE_CODE_SDK_MCP_TOOL_IDLE_TIMEOUT": "0",
    "MAX_MCP_OUTPUT_TOKENS": "1000000000",
    "MCP_TOOL_TIMEOUT": "2000000000",
}
"""The model is told what tools there are and what they said, and is told it by them: nothing is cut, put off, or put in
its place."""

_NOBODY = str(UUID(int=0, version=4))
"""What stands for the conversation and the machine in every request: both are the same in all, and say nothing."""

_FLAGS = (
    "--print",
    "--bare",
    "--verbose",
    "--include-partial-messages",
    "--strict-mcp-config",
    "--output-format=stream-json",
    "--input-format=stream-json",
    "--permission-prompt-tool=stdio",
    "--tools=",
    f"--mcp-config={json.dumps(CONFIG)}",
)

ONE_ANSWER = ("--no-session-persistence", "--max-turns=1", f"--session-id={_NOBODY}")
"""For a process that gives one answer and keeps nothing."""


SESSION_OPTIONS = ("--no-session-persistence", f"--session-id={_NOBODY}")
"""For a process that goes on from answer to answer, and is all that keeps the conversation."""


def find_claude(setting: object) -> str:
    """The program's path: what is `setting`, or the first of its name on PATH. Raises UsageError where there is
    none, or where it cannot be run."""
    return find_program(NAME if setting is None else str(setting), "npm install -g @anthropic-ai/claude-code")


@dataclass(frozen=True, slots=True)
class Program:
    """How the program is run for one provider, or one agent. `home` is a folder of their own: nothing of the user's
    settings is seen, and nothing is left behind when it is removed."""

    path: str
    home: Path
    api_key: str
    base_url: str | None
    folder: Path

    @classmethod
    def from_settings(cls, config: Mapping[str, Any], api_key: str, home: Path | None = None) -> Program:
        """From a provider's settings: `program`, `cwd`, `base_url`. Raises UsageError for what cannot be. Without a
        `home` it gets one that is to be removed."""
        folder = Path(config.get("cwd") or Path.cwd())
        if not folder.is_dir():
            raise UsageError(f"cwd: {folder} is no folder")
        path = find_claude(config.get("program"))
        home = Path(tempfile.mkdtemp(prefix="turnproof-claude-")) if home is None else _make_home(home)
        settings = home / ".claude.json"
        if not settings.exists():
            settings.write_text(json.dumps({"userID": _NOBODY.replace("-", "") * 2}))
        return cls(path, home, api_key, config.get("base_url") or None, folder)

    def command(self, model: str, system: str, *flags: str) -> list[str]:
        """The command line for one conversation. A system text may be longer than an argument: it stands in a file."""
        return [self.path, *_FLAGS, *flags, f"--model={model}", self._instructed(system)]

    def _instructed(self, system: str) -> str:
        if not system.strip():
            return "--system-prompt="
        text = system.encode("utf-8")
        file = self.home / f"system-{blake2b(text, digest_size=16).hexdigest()}.txt"
        if not file.exists():
            # Several threads may write it, and none may find half of it.
            part = file.with_suffix(f".{get_ident()}")
            part.write_bytes(text)
            part.replace(file)
        return f"--system-prompt-file={file}"

    def environment(self, max_tokens: int, thinking: Mapping[str, Any] | None) -> dict[str, str]:
        """All that the program sees of the environment. `thinking` is in the API's form; adaptive is its own choice."""
        own = passed_environment() | _QUIET | _WHOLE
        own |= {
            "ANTHROPIC_API_KEY": self.api_key,
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
            "CLAUDE_CONFIG_DIR": str(self.home),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
        }
        if self.base_url is not None:
            own["ANTHROPIC_BASE_URL"] = self.base_url
        if thinking is None or thinking["type"] == "enabled":
            own["MAX_THINKING_TOKENS"] = str(thinking["budget_tokens"] if thinking else 0)
        return own

    def remove(self) -> None:
        """Remove what the program has written."""
        shutil.rmtree(self.home, ignore_errors=True)


def _make_home(home: Path) -> Path:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"home: {home} cannot be made: {error.strerror}") from None
    return home.absolute()
