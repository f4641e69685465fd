"""What a conversation costs that the service keeps, against one that is sent whole, over HTTP against the emulator.

    python benchmarks/bench_chains.py [--turns 2 20 200] [--words 60] [--rounds 3] [--markdown]

For each adapter with a chain as its legacy path, conversations of so many turns, with so many words said and answered
in each. Request bytes are those of all bodies, tokens what the service bills for all prompts by the emulator's count
and prompt cache, US dollars their list price (`turnproof/wire/cassettes/prices.toml`, which errs upwards). The client's
CPU is that of the thread that calls the adapter, with session and SDK and without the emulator, least of the rounds, as
a ratio to the path that sends the whole conversation. Time on the network is not in it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from time import thread_time

from unlimited_model import unlimited_provider

from turnproof.messages import TokenUsage
from turnproof.provider import Binding, Path
from turnproof.session import Session
from turnproof.wire.cassettes.cost import Price, price_of
from turnproof.wire.emulator import EmulatorServer
from turnproof_adapters.google_interactions.binding import BINDING as INTERACTIONS
from turnproof_adapters.openai_responses.binding import BINDING as RESPONSES

CHAINED = (RESPONSES, INTERACTIONS)
OWNERS: dict[Path, str] = {"stateless": "the session", "legacy": "the service"}
SYSTEM = "You keep the log of a greenhouse. " * 40
MILLION = 1_000_000


@dataclass(frozen=True)
class Cost:
    """What a whole conversation cost."""

    sent_bytes: int
    fresh: int
    cached: int
    output: int
    seconds: float

    def usd(self, price: Price) -> float:
        """Its list price."""
        prompt = self.fresh * price.input + self.cached * price.read * price.input
        return (prompt + self.output * price.output) / MILLION


def said_in(turn: int, words: int) -> str:
    """What the user says, other words in each turn."""
    return " ".join(f"bed{turn}x{word}" if word % 7 == 0 else "moist" for word in range(words))


def conversation(server: EmulatorServer, binding: Binding, path: Path, turns: int, words: int) -> Cost:
    """One conversation from its first turn to its last, with a model of unlimited context."""
    with unlimited_provider(server, binding, path) as (provider, run):
        session = Session(provider, path=path, system=SYSTEM)
        before = thread_time()
        usages: list[TokenUsage] = [session.send(said_in(turn, words)).usage for turn in range(turns)]
        seconds = thread_time() - before
        sent = sum(len(exchange.request.body) for exchange in run.exchanges)
    cached = sum(usage.cache_read_tokens for usage in usages)
    prompts = sum(usage.prompt_tokens for usage in usages)
    output = sum(usage.output_tokens for usage in usages)
    return Cost(sent, prompts - cached, cached, output, seconds)


def measured(server: EmulatorServer, turns: int, words: int, rounds: int) -> Iterator[tuple[Binding, Path, Cost]]:
    """Each adapter on each path; the paths take turns, and the best round counts."""
    for binding in CHAINED:
        costs: dict[Path, list[Cost]] = {path: [] for path in OWNERS}
        for _ in range(rounds):
            for path in OWNERS:
                costs[path].append(conversation(server, binding, path, turns, words))
        for path in OWNERS:
            yield binding, path, min(costs[path], key=lambda cost: cost.seconds)


HEAD = ("adapter", "turns", "history kept by", "request bytes", "tokens fresh", "cached", "US $", "client's CPU")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, nargs="+", default=[2, 20, 200])
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    line = "{:<19}   {:>5}   {:<15}   {:>13}   {:>12}   {:>9}   {:>8}   {:>13}"
    if options.markdown:
        line = f"| {line} |".replace("   ", " | ")
    print(line.format(*HEAD))
    if options.markdown:
        print("|---" * len(HEAD) + "|")
    with EmulatorServer() as server:
        for turns in options.turns:
            whole = 0.0
            for binding, path, cost in measured(server, turns, options.words, options.rounds):
                whole = cost.seconds if path == "stateless" else whole
                price = price_of(binding.dialect, binding.model)
                figures = f"{cost.sent_bytes:,}", f"{cost.fresh:,}", f"{cost.cached:,}", f"{cost.usd(price):.4f}"
                print(line.format(binding.name, turns, OWNERS[path], *figures, f"{cost.seconds / whole:.2f}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
