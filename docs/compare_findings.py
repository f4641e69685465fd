"""Compare a certification of a library with its page in `docs/findings/`: `compare_findings.py PAGE CERTIFICATION`.

The page's table has requirements in the first cell. The second has models, as the last words of the adapters' names,
or "all"; "sometimes" behind them is for what some runs do not show. Exits with 1 where the certification has a
violation that the page lacks, or lacks one that the page has.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any


def violations_of_page(page: str, models: set[str]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The pairs of model and requirement that the page's table has, and those of them that only some runs show.

    A first cell "same" repeats the row above it.
    """
    pairs: set[tuple[str, str]] = set()
    sometimes: set[tuple[str, str]] = set()
    requirements: list[str] = []
    table = page.partition("| requirement |")[2].partition("\n\n")[0]
    for line in table.splitlines()[2:]:
        first, second = (cell.strip() for cell in line.strip("|").split("|")[:2])
        if first != "same":
            requirements = re.findall(r"`([a-z]+/[a-z-]+)`", first)
        named = models if second == "all" else set(re.findall(r"[a-z]+", second)) & models
        row = {(model, requirement) for model in named for requirement in requirements}
        pairs |= row
        sometimes |= row if "sometimes" in second else set()
    return pairs, sometimes


def violations_of_run(adapters: dict[str, Any]) -> set[tuple[str, str]]:
    """The pairs of model and requirement that a certification has as violated."""
    return {
        (name.rpartition("-")[2], requirement)
        for name, adapter in adapters.items()
        for requirement, verdict in adapter["requirements"].items()
        if verdict["status"] == "violated"
    }


def main(page: Path, certification: Path) -> int:
    """Print each difference; 0 for none."""
    run = json.loads(certification.read_text("utf-8"))
    adapters = run["adapters"]
    if not adapters or not run["complete"]:
        print(f"{certification}: the certification is not complete")
        return 1
    models = {name.rpartition("-")[2] for name in adapters}
    (expected, sometimes), observed = violations_of_page(page.read_text("utf-8"), models), violations_of_run(adapters)
    for model, requirement in sorted(observed - expected):
        print(f"{page}: {requirement} of {model} is violated, and the page lacks it")
    for model, requirement in sorted(expected - sometimes - observed):
        print(f"{page}: {requirement} of {model} is on the page, and is no longer violated")
    return int(not expected - sometimes <= observed <= expected)


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), Path(sys.argv[2])))
