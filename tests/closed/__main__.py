"""The open pair against the closed one: what is decided of each, and which mutants die in both.

`nox -s closed`, `nox -s closed -- openai`. Minutes for each adapter.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turnproof.commands.certify.engine import certify
from turnproof.commands.certify.mutants import mutants
from turnproof.commands.certify.options import CertifyOptions, MutantsOptions

from .sessions import ADAPTERS, mutants_inside

ENOUGH = 0.9
"""The part of the mutants caught in the open pair that has to be caught in the closed one."""


def main(names: Sequence[str], out: Path) -> int:
    """Print both tables for each adapter; 1 where the closed pair is accused, or catches too few."""
    wrong = False
    for name in names or ADAPTERS:
        wrong |= compare_verdicts(name, out) | compare_mutants(name, out)
    return int(wrong)


def compare_verdicts(name: str, out: Path) -> bool:
    """Certify both; True where the closed one is accused of what the open one holds."""
    opened = statuses(f"reference@{name}", out / f"open-{name}")
    shut = statuses(f"tests.closed.sessions:CLOSED_{name.upper()}", out / f"closed-{name}")
    counts = Counter((status, shut[one]) for one, status in opened.items() if one in shut)
    print(f"{name}: {len(opened)} requirements, open against closed")
    for (before, after), count in sorted(counts.items()):
        print(f"  {before:>13} {after:>13} {count:4}")
    accused = [one for one, status in opened.items() if status == "held" and shut.get(one) == "violated"]
    print("".join(f"  accused: {one}\n" for one in accused), end="")
    return bool(accused)


def statuses(subject: str, out: Path) -> dict[str, str]:
    """Each requirement's status on the stateless path."""
    certify(CertifyOptions(adapters=(subject,), out=out, backend="emulate"))
    (report,) = json.loads((out / "certification.json").read_text())["adapters"].values()
    found: dict[str, Any] = report["requirements"]
    return {one: each["paths"]["stateless"] for one, each in found.items() if "stateless" in each["paths"]}


def compare_mutants(name: str, out: Path) -> bool:
    """Run the mutants of adapters in both; True where too few of those caught in the open pair die in the closed."""
    inside = mutants_inside(ADAPTERS[name])
    own = {attribute.lower().replace("_", "-") for attribute in inside}
    opened = outcomes(name, (), out / f"mutants-open-{name}")
    shut = outcomes(
        f"tests.closed.sessions:CLOSED_{name.upper()}",
        [f"tests.closed.inside:{name}__{attribute}" for attribute in inside],
        out / f"mutants-closed-{name}",
    )
    names = [one for one in sorted(own) if opened.get(one) == "caught"]
    dead = [one for one in names if shut.get(one) == "caught"]
    print(f"{name}: {len(dead)} of {len(names)} mutants that die in the open pair die in the closed one")
    for one in names:
        if one not in dead:
            print(f"  {one}: {shut.get(one)}")
    return len(dead) < ENOUGH * len(names)


def outcomes(subject: str, only: Sequence[str], out: Path) -> dict[str, str]:
    """What became of each mutant, by its name."""
    mutants(MutantsOptions(adapter=subject, only=tuple(only), out=out, json=True))
    rows = json.loads((out / "mutants.json").read_text())["mutants"]
    return {row["mutant"]: row["outcome"] for row in rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path("reports/closed")))
