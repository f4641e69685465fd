"""Which requirement shows which row of the defect list and of the behaviour list.

`python -m tests.suites.trace --write` brings `traceability.toml` up to date with the sources that the requirements
name. What no requirement shows stands in its table `elsewhere`, by hand, with the reason.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from turnproof.judge.requirements import load_suite

SUITE = Path(__file__).resolve().parents[2] / "suites" / "turnproof_suites"
FILE = SUITE / "traceability.toml"
LISTS: Mapping[str, tuple[str, str]] = {
    "defects": ("defects.md", r"^\| ([A-Z]{2}\d+) \|"),
    "behaviours": ("behaviours.md", r"^- \*\*([A-P]\d+)\*\*"),
}
"""The lists, by the word that sources have for them: their file, and how a row begins."""

Row = tuple[str, str]


def rows(kind: str, folder: Path) -> list[str]:
    """The ids of a list's rows, in order. The lists are in the folder of shared material."""
    name, pattern = LISTS[kind]
    return re.findall(pattern, (folder / name).read_text(), re.MULTILINE)


def by_row() -> dict[str, dict[str, list[str]]]:
    """The ids of the requirements that name a row, by list and row."""
    found: dict[str, dict[str, list[str]]] = {kind: defaultdict(list) for kind in LISTS}
    for requirement in load_suite().requirements:
        for source in requirement.sources:
            kind, _, row = source.partition(":")
            if kind in LISTS:
                found[kind][row].append(requirement.id)
    return found


def elsewhere() -> dict[str, str]:
    """What no requirement shows, as `list:row`, with the reason."""
    return dict(tomllib.loads(FILE.read_text())["elsewhere"]) if FILE.exists() else {}


def text() -> str:
    """The file as it should be."""
    lines = [
        "# What shows each known defect of provider adapters, and each behaviour of systems that hold conversations.",
        "# The first two tables follow from the sources in requirements.toml; `elsewhere` says of every other row why",
        "# no requirement shows it, and what does.",
    ]
    for kind, found in by_row().items():
        lines += ["", f"[{kind}]"]
        lines += [f"{row} = [{', '.join(map(_quoted, found[row]))}]" for row in sorted(found, key=_place)]
    lines += ["", "[elsewhere]"]
    reasons = sorted(elsewhere().items(), key=lambda one: _at(one[0]))
    lines += [f'"{row}" = {_quoted(reason)}' for row, reason in reasons]
    return "\n".join(lines) + "\n"


def _place(row: str) -> tuple[str, int]:
    return row.rstrip("0123456789"), int(row.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))


def _at(source: str) -> tuple[str, tuple[str, int]]:
    kind, _, row = source.partition(":")
    return kind, _place(row)


def _quoted(reason: str) -> str:
    return '"' + reason.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        FILE.write_text(text())
    found, shared = by_row(), Path(os.environ.get("TURNPROOF_SHARED", SUITE.parents[2] / "shared"))
    for kind in LISTS:
        open_rows = [row for row in rows(kind, shared) if row not in found[kind] and f"{kind}:{row}" not in elsewhere()]
        print(f"{kind}: {len(found[kind])} rows shown, open: {' '.join(open_rows) or 'none'}")
