"""What taking turns, collecting, reverting, repairing, saving and loading cost as a history grows: in proportion?

    python benchmarks/bench_history.py [--sizes 1000 3162 10000 31623 100000] [--rounds 3] [--json]

CPU time of this process, best of the rounds, each on a history of new messages that nobody has measured before. The
slope is that of a line through the points on logarithmic scales: 1 is in proportion to the length, 2 its square. The
exit code is 1 if one is above the goal. `nothing new` is what a budget costs in every turn: comparing two lists.
"""

from __future__ import annotations

import argparse
import gc as collector
import json
import math
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import process_time_ns
from typing import Any

from turnproof.budget import InstructionBudget
from turnproof.gc import BudgetGC, Collector, GCConfig, HybridGC, SummarizeGC, TruncateGC, cut_results, turn_starts
from turnproof.messages import FinishReason, FunctionCall, Message, ProviderResponse, Text, TokenUsage, ToolResult
from turnproof.provider import Path
from turnproof.session import Session, repair
from turnproof.session.store import FileStore

SIZES = (1_000, 3_162, 10_000, 31_623, 100_000)
SLOPE_GOAL = 1.2
"""A little more than 1: a long history does not fit into the processor's caches, where a short one does."""


def conversation(messages: int) -> list[Message]:
    """Turns of four messages with a tool round in each."""
    history: list[Message] = []
    for n in range(messages // 4):
        history += [
            Message.user(f"How is bed {n}?"),
            Message.model("Let me look.", FunctionCall(f"c{n}", "look", {"bed": n})),
            Message.tool(ToolResult(f"c{n}", "look", f"Bed {n} is moist enough. " * 4)),
            Message.model(f"Bed {n} is fine."),
        ]
    return history


class Silent:
    """A provider that nobody calls."""

    def complete(self, *arguments: Any, **options: Any) -> ProviderResponse:
        raise AssertionError("nothing is sent here")


class Brief:
    """A provider of both paths that says one word and costs nothing."""

    def __init__(self) -> None:
        self._history: list[Message] = []

    def complete(self, *arguments: Any, **options: Any) -> ProviderResponse:
        return ProviderResponse((Text("Yes."),), TokenUsage(1, 1, 2), FinishReason.STOP)

    def create_session(self, system: Any = None, tools: Any = None, history: Sequence[Message] | None = None) -> None:
        self._history = list(history or ())

    def get_history(self) -> list[Message]:
        return list(self._history)

    def send_message(self, message: str, response_schema: Any = None) -> ProviderResponse:
        answer = self.complete()
        self._history += [Message.user(message), Message("model", answer.parts)]
        return answer


def summary(messages: Sequence[Message], token: object) -> str:
    return f"{len(messages)} messages about beds."


def session_on(history: list[Message]) -> Session:
    session = Session(Silent())
    session.reset(history)
    return session


def collecting(plugin: Collector) -> Callable[[list[Message]], Callable[[], Any]]:
    """A collection of nine tenths, with the measuring of all messages."""

    def prepare(history: list[Message]) -> Callable[[], Any]:
        config = GCConfig(keep_turns=max(1, len(history) // 40))
        return lambda: plugin.collect(history, config=config, reason="overflow")

    return prepare


def broken(history: list[Message]) -> list[Message]:
    """Every other result is lost, the rest stand one message too late."""
    left: list[Message] = []
    for n, message in enumerate(history):
        if message.role != "tool":
            left.append(message)
            if n % 8 == 3:
                left.append(history[n - 1])
    return left


def restoring(path: Path) -> Callable[[list[Message]], Callable[[], Any]]:
    """Reading a saved session, repairing included."""

    def prepare(history: list[Message]) -> Callable[[], Any]:
        text = session_on(history).save()
        return lambda: Session(Brief(), path=path).restore(text)

    return prepare


def turn(path: Path, number: int) -> Callable[[list[Message]], Callable[[], Any]]:
    """The first turn on a history, which measures all of it, or a later one, which ought to cost next to nothing."""

    def prepare(history: list[Message]) -> Callable[[], Any]:
        session = Session(Brief(), path=path)
        session.reset(history)
        for _ in range(number):
            session.send("And?")
        return lambda: session.send("And?")

    return prepare


def store_turn(history: list[Message]) -> Callable[[], Any]:
    """Writing a session into a store, taking a turn with it, and closing it."""
    folder = tempfile.TemporaryDirectory()
    session = Session(Brief())
    session.reset(history)

    def keep() -> None:
        with folder, FileStore(folder.name).create(session) as stored_session:
            stored_session.send("And?")

    return keep


def resuming(history: list[Message]) -> Callable[[], Any]:
    """Reading one from a store."""
    folder = tempfile.TemporaryDirectory()
    session = Session(Brief())
    session.reset(history)
    store = FileStore(folder.name)
    store.create(session, session_id="long").close()

    def resume() -> None:
        with folder:
            store.resume(Session(Brief()), "long").close()

    return resume


def synced(history: list[Message]) -> Callable[[], Any]:
    budget = InstructionBudget()
    budget.sync(history)
    return lambda: budget.sync(history)


def cutting(history: list[Message]) -> Callable[[], Any]:
    budget = InstructionBudget()
    budget.sync(history)
    return lambda: cut_results(history, free=budget.used / 10, budget=budget)


OPERATIONS: dict[str, Callable[[list[Message]], Callable[[], Any]]] = {
    "collect: truncate": collecting(TruncateGC()),
    "collect: summarize": collecting(SummarizeGC(summary)),
    "collect: hybrid": collecting(HybridGC(summary)),
    "collect: budget": collecting(BudgetGC()),
    "collect in a session": lambda history: lambda: session_on(history).collect(keep_turns=max(1, len(history) // 40)),
    "cut the largest results": cutting,
    "turn boundaries": lambda history: lambda: turn_starts(history),
    "revert by half": lambda history: (lambda session: lambda: session.revert_to_turn(len(history) // 8))(
        session_on(history)
    ),
    "repair": lambda history: (lambda left: lambda: repair(left))(broken(history)),
    "save": lambda history: session_on(history).save,
    "restore": restoring("stateless"),
    "restore, legacy": restoring("legacy"),
    "first turn": turn("stateless", 0),
    "first turn, legacy": turn("legacy", 0),
    "third turn": turn("stateless", 2),
    "third turn, legacy": turn("legacy", 2),
    "store and take a turn": store_turn,
    "resume from a store": resuming,
    "budget: from nothing": lambda history: lambda: InstructionBudget().sync(history),
    "budget: nothing new": synced,
}


@dataclass(frozen=True)
class Row:
    """One operation: milliseconds for each size, and the slope."""

    name: str
    costs: tuple[float, ...]
    slope: float


def cost(prepare: Callable[[list[Message]], Callable[[], Any]], size: int, rounds: int) -> float:
    """Milliseconds of CPU, best of the rounds."""
    found = []
    for _ in range(rounds):
        work = prepare(conversation(size))
        collector.collect()
        collector.disable()
        try:
            start = process_time_ns()
            work()
            found.append((process_time_ns() - start) / 1e6)
        finally:
            collector.enable()
    return min(found)


def slope(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The exponent of the power of the length that fits best."""
    xs, ys = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of messages")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for name, prepare in OPERATIONS.items():
        costs = tuple(cost(prepare, size, options.rounds) for size in options.sizes)
        rows.append(Row(name, costs, slope(options.sizes, costs)))
    is_met = all(row.slope <= SLOPE_GOAL for row in rows)
    if options.json:
        found = {row.name: {"milliseconds": row.costs, "slope": round(row.slope, 3)} for row in rows}
        print(
            json.dumps(
                {"schema": "turnproof.bench-history/1", "sizes": options.sizes, "operations": found, "met": is_met}
            )
        )
        return 0 if is_met else 1
    print(f"milliseconds of CPU, best of {options.rounds}\n")
    print(f"{'messages':<26}" + "".join(f"{size:>10,}" for size in options.sizes) + f"{'slope':>8}")
    for row in rows:
        print(f"{row.name:<26}" + "".join(f"{each:>10.2f}" for each in row.costs) + f"{row.slope:>8.2f}")
    print(f"\ngoal (slope <= {SLOPE_GOAL}): {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
