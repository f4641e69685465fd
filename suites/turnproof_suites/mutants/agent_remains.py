"""Agents that leave something behind: processes, files, and the key where everybody can read it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from turnproof.subject import SessionSetup

from ._agent import BrokenAgent
from ._mutant import suite_mutant

_WAITING = "import time; time.sleep(60)"


def _started(*words: str) -> subprocess.Popen[bytes]:
    """A helper of the program, which waits for nobody and ends by itself after a minute."""
    command = [sys.executable, "-S", "-c", _WAITING, *words]
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)


@suite_mutant("helper-left-running")
class HelperLeftRunning(BrokenAgent):
    """The program starts a helper in a session of its own, and only the program is ended."""

    def open_handle(self, setup: SessionSetup) -> Any:
        self.helper = _started()
        return super().open_handle(setup)


@suite_mutant("key-in-the-command")
class KeyInTheCommand(BrokenAgent):
    """The program is started with the key as an argument."""

    def open_handle(self, setup: SessionSetup) -> Any:
        self.helper = _started("--api-key", setup.endpoint.api_key)
        return super().open_handle(setup)

    def close(self) -> None:
        super().close()
        self.helper.kill()
        self.helper.wait()


@suite_mutant("settings-in-the-project")
class SettingsInTheProject(BrokenAgent):
    """The program's settings are written into the folder that it works in."""

    def open_handle(self, setup: SessionSetup) -> Any:
        (Path(setup.cwd) / ".agent.json").write_text("{}", encoding="utf-8")
        return super().open_handle(setup)
