"""`python -m tests.live [ADAPTER ...]`: certify adapters live against llama.cpp's own server, with a made-up model.

Once with a fixed seed and once with words drawn anew, as every provider does. It starts the server on a free port, ends
it in any case, prints what was decided, and fails if an adapter that is known to be right is accused of anything.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ADAPTERS = {
    "openai": {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "{url}/v1"},
    "anthropic": {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "{url}"},
    "ollama": {"OLLAMA_API_KEY": "none", "OLLAMA_HOST": "{url}"},
}
"""The adapters that llama.cpp has an API for, and how each finds it."""

START_LIMIT = 120.0
END_LIMIT = 20.0


@contextmanager
def model_server(model: Path, log: Path, *words: str) -> Iterator[str]:
    """The server with this model, until the block ends: its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.live.model_server", str(model), "--port", str(port), *words]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as server:
        try:
            end = time.monotonic() + START_LIMIT
            while not any(line.startswith("ready") for line in log.read_text(errors="replace").splitlines()):
                if server.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"the model server did not start: see {log}")
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            try:
                server.wait(END_LIMIT)
            except subprocess.TimeoutExpired:
                server.kill()


def certify(adapter: str, url: str, out: Path) -> Counter[str]:
    """Certify one adapter behind the server; how many requirements have which status, and what decided them."""
    variables = {name: value.format(url=url) for name, value in ADAPTERS[adapter].items()}
    command = [sys.executable, "-m", "turnproof", "certify", adapter, "--backend", "live", "--out", str(out)]
    subprocess.run(command, env={**os.environ, **variables}, check=False, stdout=subprocess.DEVNULL)
    report = json.loads((out / "certification.json").read_text("utf-8"))["adapters"][adapter]
    for name, found in report["requirements"].items():
        if found["status"] == "violated":
            print(f"  violated: {name}: {found['message']}")
    counts = Counter(found["status"] for found in report["requirements"].values())
    return counts + Counter({f"on {name}": count for name, count in report["decided_on"].items()})


def main(adapters: list[str], reports: Path) -> int:
    """Certify in both ways; 1 where an adapter was accused."""
    from .made_up_model import write_model

    accused = 0
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "made-up.gguf"
        write_model(model)
        for drawing, words in (("fixed", ["--seed", "7"]), ("drawn", [])):
            with model_server(model, Path(folder) / f"{drawing}.log", *words) as url:
                for adapter in adapters:
                    began = time.monotonic()
                    counts = certify(adapter, url, reports / f"{adapter}-{drawing}")
                    accused += counts["violated"]
                    seconds = time.monotonic() - began
                    print(f"{adapter} ({drawing} seed): {dict(sorted(counts.items()))}, {seconds:.0f} s", flush=True)
    return 1 if accused else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Certify adapters live against llama.cpp's own server.")
    parser.add_argument("adapters", nargs="*", metavar="ADAPTER", help=f"of {', '.join(ADAPTERS)}; all of them")
    parser.add_argument("--out", type=Path, default=Path("reports/live"))
    options = parser.parse_args()
    if unknown := [name for name in options.adapters if name not in ADAPTERS]:
        parser.error(f"llama.cpp has no API for {unknown[0]!r}: one of {', '.join(ADAPTERS)}")
    sys.exit(main(options.adapters or list(ADAPTERS), options.out))
