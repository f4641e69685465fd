"""What one more subagent costs, beside what it shares: a client of the official SDK.

    python benchmarks/bench_subagents.py [--agents 200] [--rounds 5] [--json]

CPU time of this process, everything interleaved round by round, best of the rounds. Bytes are for each of many objects
that are kept. A subagent is Python alone, so tracemalloc counts all of it; most of a client is what TLS keeps outside
of Python, so it is the growth of the process that counts (Linux). What matters are the ratios to a client of the
`anthropic` SDK, which every subagent would need if it could not use its parent's. Nothing is sent: the subagents'
provider answers from memory.

    session     `Runtime.create_session`, without tools
    spawn       `Team.spawn` to the end of a first turn: session, tools, thread, turn, report
    idle child  a subagent after that turn: history, tools, report, no thread
    client      `anthropic.Anthropic(api_key=...)`
    adapter     the reference adapter around such a client, which makes it cheaper, and TLS only when it is needed

Goals: a spawn costs at most 0.1 of a client, and an idle child holds at most 0.1 as much. The exit code is 1 if the
best round misses one.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import process_time_ns
from typing import Any

import anthropic

from turnproof.messages import FinishReason, ProviderResponse, Text, TokenUsage
from turnproof.provider import Endpoint
from turnproof.session.agents import Agent, Limits, ProviderSource, Runtime, Team
from turnproof_adapters.anthropic.binding import BINDING

ANSWER = ProviderResponse((Text("Bed 3 is moist enough."),), TokenUsage(20, 5, 25), FinishReason.STOP)
GOAL = 0.1


class Prompt:
    """A provider that answers at once."""

    def complete(
        self, messages: Any, system_instruction: Any = None, tools: Any = None, **options: Any
    ) -> ProviderResponse:
        return ANSWER


def runtime() -> Runtime:
    return Runtime({"prompt": ProviderSource(("m",), open_stateless=lambda model: Prompt())})


def team(agents: int) -> Team:
    return Team(runtime(), limits=Limits(children=agents))


def spawned(owner: Team) -> Agent:
    """One subagent whose turn is over."""
    agent = owner.spawn(owner.lead, "Is bed 3 moist enough?")
    owner.wait_for(lambda: not agent.is_running)
    agent.take_reports()
    return agent


def client() -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="no-key")


def adapter() -> Any:
    assert BINDING.open_stateless is not None
    return BINDING.open_stateless(Endpoint("https://example.invalid", "no-key", BINDING.model))


def cost(make: Callable[[], Any], count: int) -> float:
    """Microseconds of CPU for one of `count`, all threads of this process together."""
    start = process_time_ns()
    for _ in range(count):
        make()
    return (process_time_ns() - start) / 1e3 / count


def traced(make: Callable[[], Any], count: int) -> float:
    """Bytes of Python that one of `count` objects holds while all of them are kept."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        objects = [make() for _ in range(count)]
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / len(objects)
    finally:
        tracemalloc.stop()


def memory_growth(make: Callable[[], Any], count: int) -> float:
    """Bytes by which the process grows for one of `count` objects while all of them are kept."""
    gc.collect()
    before = resident()
    objects = [make() for _ in range(count)]
    gc.collect()
    return (resident() - before) / len(objects)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def costs(agents: int) -> dict[str, float]:
    """One round, in microseconds."""
    shared, owner = runtime(), team(agents)
    found = {
        "session": cost(lambda: shared.create_session("a"), agents),
        "spawn": cost(lambda: spawned(owner), agents),
        "client": cost(client, max(1, agents // 50)),
        "adapter": cost(adapter, max(1, agents // 50)),
    }
    assert threading.active_count() == 1, "an idle child has no thread"
    owner.close()
    return found


def sizes(agents: int) -> dict[str, float]:
    """In bytes."""
    growth = memory_growth(client, max(1, agents // 10))
    owner = team(agents + 1)
    spawned(owner)
    return {"idle child": traced(lambda: spawned(owner), agents), "client": growth}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    costs(5)
    rounds = [costs(options.agents) for _ in range(options.rounds)]
    best = {name: min(figures[name] for figures in rounds) for name in rounds[0]}
    byte_sizes = sizes(options.agents)
    ratios = {
        "spawn / client": best["spawn"] / best["client"],
        "session / client": best["session"] / best["client"],
        "spawn / adapter": best["spawn"] / best["adapter"],
        "bytes: idle child / client": byte_sizes["idle child"] / byte_sizes["client"],
    }
    is_met = ratios["spawn / client"] <= GOAL and ratios["bytes: idle child / client"] <= GOAL
    if options.json:
        print(json.dumps({"microseconds": best, "bytes": byte_sizes, "ratios": ratios, "met": is_met}, indent=1))
        return 0 if is_met else 1
    print(f"{options.agents} subagents, best of {options.rounds} rounds\n")
    for name, figure in best.items():
        print(f"  {name:<30} {figure:10.1f} µs")
    for name, figure in byte_sizes.items():
        print(f"  {name:<30} {figure:10.0f} bytes")
    print()
    for name, ratio in ratios.items():
        print(f"  {name:<30} {ratio:10.4f}")
    goals = f"spawn / client and bytes of idle child / client <= {GOAL}"
    print(f"\ngoals ({goals}): {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
