"""What a turn of an agent takes: `python benchmarks/agent_turns.py claude_agent codex_acp my_pkg.binding:AGENT`.

Each agent asks the emulator, which echoes, from a home of its own. Told are medians: of the first turn in a fresh
process (its start in it), of a turn in a process that runs, of the first turn after a resume in another process, and of
a list of sessions; then the same as multiples of the first agent's. Seconds are this machine's, in this minute.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from turnproof.agents import AgentBinding, AgentSetup
from turnproof.dialects import dialect
from turnproof.provider import Endpoint
from turnproof.run.bindings import resolve_agent
from turnproof.wire.emulator import EmulatorServer
from turnproof.wire.emulator.echo import EchoResponder

ROUNDS = 3
TURNS = 5
KEY = "turnproof-bench-key"


def measured(binding: AgentBinding, url: str) -> dict[str, list[float]]:
    """Seconds of each thing, once a round."""
    found: dict[str, list[float]] = {"first turn": [], "turn": [], "resumed turn": [], "list": []}
    with tempfile.TemporaryDirectory(prefix="turnproof-agent-") as root:
        cwd = Path(root, "work")
        cwd.mkdir()
        for number in range(ROUNDS):
            home = Path(root, f"home-{number}")
            home.mkdir()
            endpoint = Endpoint(url, KEY, binding.model, dict(binding.options))
            setup = AgentSetup(endpoint, str(home), str(cwd), "Be brief.")
            agent = binding.open(setup)
            try:
                found["first turn"].append(_seconds(agent.send, "Good morning."))
                found["turn"] += [_seconds(agent.send, "And now?") for _ in range(TURNS)]
                session = agent.session_id
            finally:
                agent.shutdown()
            again = binding.open(AgentSetup(endpoint, str(home), str(cwd), "Be brief.", session=session))
            try:
                found["resumed turn"].append(_seconds(again.send, "Where were we?"))
                if again.session_capabilities.can_list:
                    found["list"].append(_seconds(again.list_sessions))
            finally:
                again.shutdown()
    return found


def _seconds(action: Callable[..., object], *arguments: object) -> float:
    began = time.perf_counter()
    action(*arguments)
    return time.perf_counter() - began


def main(names: list[str]) -> None:
    """Measure them one after the other, and print the table."""
    first: dict[str, float] = {}
    with EmulatorServer() as server:
        for name in names:
            binding = resolve_agent(name)
            run = server.open_run(dialect(binding.dialect), EchoResponder(), keys=frozenset({KEY}), run_id=name)
            found = {what: statistics.median(times) for what, times in measured(binding, run.base_url).items() if times}
            first = first or found
            columns = [
                f"{what} {took:.2f} s ({took / first[what]:.1f} ×)" for what, took in found.items() if what in first
            ]
            print(f"{binding.name:16} " + ", ".join(columns), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["claude_agent"])
