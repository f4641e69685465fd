"""`python -m tests.live [ADAPTER ...]`: certify adapters live against llama.cpp's own server, with a made-up model.

With a fixed seed and with words drawn anew, as every provider does, `--rounds` times each; a model that thinks for the
Messages API; recorded and replayed; and a sample of broken adapters, live and emulated. It starts the servers on free
ports, ends them in any case, prints what was decided, and fails if an adapter that is right is accused of anything.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .started_server import started

ADAPTERS = {
    "openai": {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "{url}/v1"},
    "openai_responses": {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "{url}/v1"},
    "anthropic": {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "{url}"},
    "ollama": {"OLLAMA_API_KEY": "none", "OLLAMA_HOST": "{url}"},
}
"""The adapters that llama.cpp has an API for, and how each finds it."""

THINKING = "anthropic"
"""The adapter that is run with the thinking model."""

RECORDED = "openai"
"""The adapter that is recorded and replayed, and broken."""

SEED = "7"
START_LIMIT = 120.0


@contextmanager
def model_server(model: Path, log: Path, *words: str) -> Iterator[str]:
    """The server with this model, until the block ends: its address."""

    def is_ready(port: int) -> bool:
        return any(line.startswith("ready") for line in log.read_text(errors="replace").splitlines())

    def command(port: int) -> Sequence[str]:
        return [sys.executable, "-m", "tests.live.model_server", str(model), "--port", str(port), *words]

    with started(command, log, is_ready, START_LIMIT) as address:
        yield address


def variables(adapter: str, url: str) -> Mapping[str, str]:
    """The environment in which an adapter finds the server."""
    return {**os.environ, **{name: value.format(url=url) for name, value in ADAPTERS[adapter].items()}}


def run(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """A command of this Python; what it printed. What it says of its progress goes to the terminal."""
    ended = subprocess.run(
        [sys.executable, "-m", *words], env=environment, check=False, stdout=subprocess.PIPE, text=True
    )
    return ended.stdout


def certify(adapter: str, environment: Mapping[str, str], out: Path, *words: str) -> Counter[str]:
    """Certify an adapter; how many requirements have which status, and what decided them."""
    run(["turnproof", "certify", adapter, "--out", str(out), *words], environment)
    report = json.loads((out / "certification.json").read_text("utf-8"))["adapters"][adapter]
    for name, found in report["requirements"].items():
        if found["status"] == "violated":
            print(f"  violated: {name}: {found['message']}")
    counts = Counter(found["status"] for found in report["requirements"].values())
    return counts + Counter({f"on {name}": count for name, count in report["decided_on"].items()})


class Table:
    """What was measured, a line at a time. `accused` counts the requirements that a right adapter violates."""

    def __init__(self) -> None:
        self.accused = 0

    @contextmanager
    def row(self, title: str) -> Iterator[Counter[str]]:
        """Time what fills the counts, and print them."""
        began, counts = time.monotonic(), Counter[str]()
        yield counts
        self.accused += counts["violated"]
        print(f"{title}: {dict(sorted(counts.items()))}, {time.monotonic() - began:.0f} s", flush=True)


def main(adapters: Sequence[str], reports: Path, rounds: int, every: int) -> int:
    """Everything, one after the other; 1 where an adapter was accused."""
    from .made_up_model import write_model

    table = Table()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, thinking = folder / "made-up.gguf", folder / "thinking.gguf"
        write_model(plain)
        write_model(thinking, thinking=True)
        for number in range(rounds):
            for drawing, words in (("fixed", ["--seed", SEED]), ("drawn", [])):
                with model_server(plain, folder / f"{drawing}-{number}.log", *words) as url:
                    for adapter in adapters:
                        with table.row(f"{adapter} ({drawing} seed, round {number + 1})") as counts:
                            out = reports / f"{adapter}-{drawing}-{number + 1}"
                            counts += certify(adapter, variables(adapter, url), out, "--backend", "live")
        if THINKING in adapters:
            with (
                model_server(thinking, folder / "thinking.log", "--seed", SEED) as url,
                table.row(f"{THINKING} (thinking model)") as counts,
            ):
                words = ["--backend", "live", "--profile", "thinking"]
                counts += certify(THINKING, variables(THINKING, url), reports / f"{THINKING}-thinking", *words)
        if RECORDED in adapters:
            with model_server(plain, folder / "recorded.log") as url:
                record_and_replay(table, variables(RECORDED, url), reports)
                for backend in ("live", "emulate"):
                    with table.row(f"broken {RECORDED}, every {every}th mutant ({backend})") as counts:
                        sample = ["tests.live.mutant_sample", RECORDED, "--every", str(every), "--backend", backend]
                        found = json.loads(run(sample, variables(RECORDED, url)).splitlines()[-1])
                        counts += Counter(found["counts"])
                        print("  missed:", "; ".join(found["missed"]) or "none")
    return 1 if table.accused else 0


def record_and_replay(table: Table, environment: Mapping[str, str], reports: Path) -> None:
    """Record an adapter's conversations with words drawn anew, and certify it from what was recorded."""
    cassettes = reports / "cassettes"
    with table.row(f"{RECORDED} (recorded)") as counts:
        run(["turnproof", "record", RECORDED, "--live", "--out", str(cassettes)], environment)
        counts["cassettes"] = len(list(cassettes.rglob("*.yaml")))
    with table.row(f"{RECORDED} (replayed)") as counts:
        words = ["--backend", "replay", "--cassettes", str(cassettes)]
        counts += certify(RECORDED, environment, reports / f"{RECORDED}-replayed", *words)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Certify adapters live against llama.cpp's own server.")
    parser.add_argument("adapters", nargs="*", metavar="ADAPTER", help=f"of {', '.join(ADAPTERS)}; all of them")
    parser.add_argument("--out", type=Path, default=Path("reports/live"))
    parser.add_argument("--rounds", type=int, default=1, help="how often each adapter is certified with either seed")
    parser.add_argument("--every", type=int, default=9, help="each so-manieth mutant is tried")
    options = parser.parse_args()
    if unknown := [name for name in options.adapters if name not in ADAPTERS]:
        parser.error(f"llama.cpp has no API for {unknown[0]!r}: one of {', '.join(ADAPTERS)}")
    sys.exit(main(options.adapters or list(ADAPTERS), options.out, options.rounds, options.every))
