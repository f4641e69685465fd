"""What spans cost a turn: without any, with the API's no-op tracer (no SDK configured), and recorded in memory.

    python benchmarks/bench_telemetry.py [--turns 400] [--rounds 7] [--json]

A turn here is the session's own work and nothing else: a provider in memory answers at once, first with a call, then
with a text, so each turn has two model calls and one tool. Real turns take hundreds of times as long; a ratio near 1
here is none to be seen there. CPU time of this process, the three interleaved round by round, best of the rounds.

Goal: the no-op tracer adds at most a quarter to this turn. The exit code is 1 if the best round misses it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from itertools import count
from time import process_time_ns
from typing import Any, Self

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracer

from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage, ToolSchema
from turnproof.session import Session, Tool, Tracing

GOAL = 1.25
USAGE = TokenUsage(1000, 50, 1050, cache_read_tokens=900)


class Nothing:
    """Stands where a span would."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[..., None]:
        return _nothing


def _nothing(*_: object, **__: object) -> None:
    pass


class Untraced(Tracing):
    """Makes no spans at all: what the others are held against."""

    def __init__(self) -> None:
        nothing = Nothing()
        for name in ("turn", "call", "retry", "tool", "permission", "collect"):
            setattr(self, name, lambda *_, **__: nothing)


class Provider:
    """Answers a question with a call, and its result with a text."""

    name, model_name = "memory", "memory-1"

    def __init__(self) -> None:
        self._ids = count(1)

    def complete(self, messages: Sequence[Message], *_: Any, **__: Any) -> ProviderResponse:
        if messages[-1].role == "tool":
            return ProviderResponse((Text("It is dry."),), USAGE, FinishReason.STOP)
        call = FunctionCall(f"c{next(self._ids)}", "read_sensor", {"bed": "3"})
        return ProviderResponse((call,), USAGE, FinishReason.TOOL_USE)


def tracings() -> dict[str, Callable[[], Tracing]]:
    """The contestants, by name."""

    def recorded() -> Tracing:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
        return Tracing(provider.get_tracer("bench"))

    return {"without": Untraced, "no-op": lambda: Tracing(NoOpTracer()), "recorded": recorded}


def turn_ns(tracing: Tracing, turns: int) -> float:
    """CPU time of one turn, in nanoseconds, of so many on a history that begins empty."""
    tool = Tool(ToolSchema("read_sensor"), lambda args, token: "41 %")
    session = Session(Provider(), tools=[tool], parallel_tools=False, tracing=tracing)
    start = process_time_ns()
    for _ in range(turns):
        session.send("How is bed 3?")
    return (process_time_ns() - start) / turns


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    tracings_by_name = tracings()
    rounds = [
        {name: turn_ns(make(), options.turns) for name, make in tracings_by_name.items()} for _ in range(options.rounds)
    ]
    best = {name: min(found[name] for found in rounds) for name in tracings_by_name}
    ratios = {name: best[name] / best["without"] for name in tracings_by_name}
    if options.json:
        microseconds = {name: nanoseconds / 1000 for name, nanoseconds in best.items()}
        found = {"schema": "turnproof.bench-telemetry/1", "turn_us": microseconds, "ratio": ratios, "goal": GOAL}
        print(json.dumps(found))
    else:
        for name, nanoseconds in best.items():
            print(f"{name:<9} {nanoseconds / 1000:>7.1f} µs a turn   {ratios[name]:.2f} of a turn without spans")
    return int(ratios["no-op"] > GOAL)


if __name__ == "__main__":
    sys.exit(main())
