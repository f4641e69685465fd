"""`python -m tests.mutation`: mutants of the reference adapters, judged by the suite and by the adapters' own tests."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

import turnproof_adapters
from turnproof._base.depth import DEPTHS
from turnproof._base.exit_codes import Exit
from turnproof.report.terminal import console_for
from turnproof.run.bindings import binding_names

from .examine import Outcome
from .generate import mutants
from .mutant import Mutant
from .report import Document, document, print_report
from .run import MutationRun
from .survivors import load_review

SURVIVORS = Path(__file__).with_name("survivors.toml")
ADAPTERS = Path(next(iter(turnproof_adapters.__path__)))
TESTS = ("tests/adapters",)
LEFT_OUT = ("__init__.py", "*/__init__.py", "*/plain.py", "peers/*")
"""Files without code of an adapter: packages, the calls that a benchmark compares with, other people's libraries."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; the exit code: 1 for a survivor that is not reviewed, and for a review that is out of date."""
    options = _parser().parse_args(arguments)
    began = time.monotonic()
    adapters = options.adapter or binding_names()
    generated = [mutant for file in _files(adapters, options.file) for mutant in mutants(ADAPTERS / file, file)]
    chosen = _chosen(generated, options)
    if not chosen:
        print("mutation: nothing to run: no file or mutant fits", file=sys.stderr)
        return Exit.FAULT
    judged: dict[Mutant, Outcome] = {}
    interrupted = False
    try:
        run = MutationRun(
            "turnproof_adapters", ADAPTERS, adapters, TESTS, depth=options.depth, jobs=options.jobs, notify=_progress
        )
        for mutant, outcome in run.judged(chosen, seconds=options.minutes and options.minutes * 60):
            judged[mutant] = outcome
            _progress(f"{len(judged)}/{len(chosen)} {outcome.fate} {mutant}")
    except KeyboardInterrupt:
        interrupted = True
    found = document(adapters, options.seed, generated, judged, load_review(SURVIVORS), time.monotonic() - began)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    print_report(found, console_for(sys.stdout))
    if interrupted:
        return Exit.INTERRUPTED
    return Exit.OK if found.right else Exit.VIOLATIONS


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--adapter", action="append", help="judge by this adapter only (repeatable)")
    parser.add_argument("--file", action="append", default=[], help="a file by its name, or a pattern (repeatable)")
    parser.add_argument("--depth", choices=DEPTHS, default="full", help="of the certification")
    parser.add_argument("--sample", type=int, help="run so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the random order in which mutants are run")
    parser.add_argument("--minutes", type=float, help="begin no other mutant after so many minutes")
    parser.add_argument("--again", type=Path, metavar="JSON", help="run only what lived in this earlier run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mutants that run at once")
    parser.add_argument("--out", type=Path, default=Path("reports/mutation.json"))
    return parser


def _files(adapters: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """The files of these adapters and those that they share, by their paths below the package."""
    found = []
    for path in sorted(ADAPTERS.rglob("*.py")):
        file = path.relative_to(ADAPTERS).as_posix()
        package, slash, name = file.rpartition("/")
        is_relevant = not slash or package in adapters
        expected = not patterns or any(fnmatchcase(file, one) or fnmatchcase(name, one) for one in patterns)
        if is_relevant and expected and not any(fnmatchcase(file, one) for one in LEFT_OUT):
            found.append(file)
    return found


def _chosen(generated: Sequence[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """What is to be run, in random order: what an early end leaves is a fair sample."""
    chosen = list(generated)
    if options.again is not None:
        earlier = msgspec.json.decode(options.again.read_bytes(), type=Document)
        lived = {(row.file, row.function, row.text, row.change) for row in earlier.mutants if row.lives}
        chosen = [one for one in chosen if (one.file, one.function, one.text, one.change) in lived]
    random.Random(options.seed).shuffle(chosen)
    return chosen[: options.sample]


def _progress(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what[:150]}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
