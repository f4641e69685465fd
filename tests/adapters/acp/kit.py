"""What the tests of these agents share: a program, scripted or real, an API for it to ask, and an agent around both."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from turnproof.agents import AgentBinding, AgentSetup, Tool
from turnproof.cancel import CancelToken
from turnproof.messages import FunctionCall, Message, ProviderResponse
from turnproof.provider import Endpoint
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.server_run import CANARY_KEY
from turnproof_adapters.acp.agent import AcpAgent

from ..emulated_conversation import QUESTIONS, SCRIPT, SENSOR, SYSTEM, Api
from .bound import STANDIN

REAL = os.environ.get("TURNPROOF_ACP")
"""A real program in place of the stand-in: its path, whose folder or name says which of the three it is."""

WHICH = next((name for name in ("claude", "codex", "gemini") if name in (REAL or "claude")), "claude")

AGENT: AgentBinding = import_module(f"turnproof_adapters.acp.{WHICH}").AGENT

standin_only = pytest.mark.skipif(
    REAL is not None, reason="TURNPROOF_ACP names a real program, and only the stand-in can be made to do this"
)


@dataclass
class Bench:
    """An agent's home and folder, the API, and what its tools and listeners were told."""

    api: Api
    home: Path
    cwd: Path
    tool_arguments: list[Mapping[str, Any]] = field(default_factory=list)
    permission_calls: list[FunctionCall] = field(default_factory=list)
    agents: list[AcpAgent] = field(default_factory=list)

    def setup(
        self,
        *flags: str,
        run: Callable[[dict[str, Any], CancelToken], Any] | None = None,
        tools: bool = True,
        options: Mapping[str, Any] | None = None,
        program: object = None,
        **more: Any,
    ) -> AgentSetup:
        command = program if program is not None else REAL or [*STANDIN, *flags]
        own = {"program": command, "timeout": 60, **(options or {})}
        settings: dict[str, Any] = {"cwd": str(self.cwd), "system": SYSTEM, "permits": self._permits, **more}
        return AgentSetup(
            Endpoint(self.api.run.base_url, CANARY_KEY, AGENT.model, own),
            home=str(self.home),
            tools=(Tool(SENSOR, run or self._run),) if tools else (),
            **settings,
        )

    def open(self, *flags: str, **more: Any) -> AcpAgent:
        """An agent, shut down at the end."""
        agent = AGENT.open(self.setup(*flags, **more))
        assert isinstance(agent, AcpAgent)
        self.agents.append(agent)
        return agent

    def say(self, agent: AcpAgent, turn: int, **listeners: Any) -> ProviderResponse:
        """A turn of the script."""
        self.api.arm(turn)
        return agent.send(QUESTIONS[turn], **listeners)

    def _permits(self, call: FunctionCall) -> bool:
        self.permission_calls.append(call)
        return True

    def _run(self, args: dict[str, Any], token: CancelToken) -> str:
        self.tool_arguments.append(args)
        return "41 %"


@contextmanager
def bench(folder: Path, script: Mapping[str, Any] = SCRIPT) -> Iterator[Bench]:
    (folder / "cwd").mkdir()
    with EmulatorServer() as server:
        new_bench = Bench(Api(server, AGENT.dialect, script), folder / "home", folder / "cwd")
        try:
            yield new_bench
        finally:
            for agent in new_bench.agents:
                agent.shutdown()


def roles_and_texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Roles and texts, without what a program has put around them."""
    return [(message.role, message.text) for message in messages if message.text]
