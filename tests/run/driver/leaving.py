"""Agents that start a process in their folder and then do something bad, each in its own way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from turnproof.agents import AgentBinding, AgentSetup

SLEEP = "import time; time.sleep(60)"


def start(setup: AgentSetup, *, cwd: str, home: str) -> None:
    command = [sys.executable, "-S", "-c", SLEEP, setup.home]  # the home tells whose process it is
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(command, cwd=cwd, env={"HOME": home}, start_new_session=True, **quiet)
    (Path(setup.home) / "begun").write_text("yes")


def fails(setup: AgentSetup) -> NoReturn:
    start(setup, cwd=setup.cwd, home="/")
    raise RuntimeError("not today")


def hangs(setup: AgentSetup) -> NoReturn:
    start(setup, cwd=setup.cwd, home="/")
    while True:
        time.sleep(1)


def dies(setup: AgentSetup) -> NoReturn:
    start(setup, cwd="/", home=setup.home)
    os._exit(3)


def _binding(name: str, open_agent: Callable[[AgentSetup], Any]) -> AgentBinding:
    return AgentBinding(name, "anthropic-messages@claude-cli", "claude-sonnet-4-5", open_agent)


FAILS = _binding("agent-that-fails", fails)
HANGS = _binding("agent-that-hangs", hangs)
DIES = _binding("agent-that-dies", dies)
