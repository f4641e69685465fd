"""Which requirement shows which row of the lists of defects, of behaviours and of what goes wrong with stored
conversations.

`python -m tests.suites.trace --write` brings `traceability.toml` up to date with the sources that the requirements
name. What no requirement shows stands in its table `elsewhere`, by hand, with the reason.

Where the lists are (`../shared`), it also writes what their rows say into `sources.toml`, and lists rows that nobody
names. Where they are not, it says so, and leaves both out.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from turnproof.judge.requirements import load_suite

SUITE = Path(__file__).resolve().parents[2] / "suites" / "turnproof_suites"
FILE = SUITE / "traceability.toml"
SOURCES = SUITE / "sources.toml"
SHARED = Path(os.environ.get("TURNPROOF_SHARED", SUITE.parents[2] / "shared"))
LISTS: Mapping[str, tuple[str, str]] = {
    "defects": ("defects.md", r"^\| ([A-Z]{2}\d+) \|"),
    "behaviours": ("behaviours.md", r"^- \*\*([A-P]\d+)\*\*"),
    "stored": ("wire/stored-conversations.md", r"^\| (SO\d+) \|"),
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
        "# What shows each known defect of provider adapters, each behaviour of systems that hold conversations, and",
        "# each defect of conversations that a service keeps.",
        "# All tables but the last follow from the sources in requirements.toml; `elsewhere` says of every other row",
        "# why no requirement shows it, and what does.",
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


def sources_text(shared: Path) -> str:
    """`sources.toml`: what each source that a requirement names says, with its public threads."""
    lines = [
        "# What the sources say that requirements name, and the public threads that show it.",
        "# Made by `python -m tests.suites.trace --write` from lists that are not part of this repository.",
    ]
    named = sorted({source for one in load_suite().requirements for source in one.sources})
    for source in named:
        kind, _, row = source.partition(":")
        if kind in _READERS:
            says, links = _READERS[kind](shared, row)
            lines += ["", f"[{kind}.{_quoted(row)}]", f"says = {_quoted(says)}"]
            lines += [f"links = [{', '.join(map(_quoted, links))}]"] if links else []
    return "\n".join(lines) + "\n"


def _defect(shared: Path, row: str) -> tuple[str, list[str]]:
    text = (shared / "defects.md").read_text("utf-8")
    found = re.search(rf"^\| {row} \| (.*?) \| .*? \| (.*?) \| [^|]* \|$", text, re.MULTILINE)
    assert found is not None, row
    return found[1].replace("`", ""), list(dict.fromkeys(threads(found[2])))


def threads(text: str) -> Iterator[str]:
    """The threads of GitHub that a row names: `owner/name#1`, `owner/name PR#2`, and `#3` of the one before."""
    repository = ""
    for match in re.finditer(r"(?:([A-Za-z0-9][\w.-]*/[\w.-]+?) ?)?(PR)?#(\d+)", text):
        repository = match[1] or repository
        if repository:
            yield f"https://github.com/{repository}/{'pull' if match[2] else 'issues'}/{match[3]}"


def _behaviour(shared: Path, row: str) -> tuple[str, list[str]]:
    text = (shared / "behaviours.md").read_text("utf-8")
    found = re.search(rf"^- \*\*{row}\*\* (.*?)(?:  \(.*\))?$", text, re.MULTILINE)
    assert found is not None, row
    return found[1].replace("`", ""), []


def _stored(shared: Path, row: str) -> tuple[str, list[str]]:
    text = (shared / "wire" / "stored-conversations.md").read_text("utf-8")
    found = re.search(rf"^\| {row} \| (.*?) \| (.*?) \|$", text, re.MULTILINE)
    assert found is not None, row
    # Projects of OpenAI's own stand there by their name alone, and a number without a sign.
    owned = re.sub(r"(?<![\w/-])(?=openai-)", "openai/", found[2])
    spelled = re.sub(r"(?<=[\w.-]) (?=\d)", " #", owned)
    return found[1].replace("`", ""), list(dict.fromkeys(threads(_each_numbered(spelled))))


def _each_numbered(text: str) -> str:
    """`owner/name #1, 2` with a sign before every number."""
    return re.sub(r", (?=\d)", ", #", text)


def _wire(shared: Path, row: str) -> tuple[str, list[str]]:
    name, _, section = row.partition("#")
    text = (shared / "wire" / f"{name}.md").read_text("utf-8")
    title = re.match(r"# (.*)", text)
    heading = re.search(rf"^## {section}\. (.*)$", text, re.MULTILINE)
    assert title is not None, row
    return f"{title[1]}: {heading[1] if heading else section}".replace("`", ""), []


_READERS: Mapping[str, Callable[[Path, str], tuple[str, list[str]]]] = {
    "defects": _defect,
    "behaviours": _behaviour,
    "stored": _stored,
    "wire": _wire,
}


def main(*, write: bool, shared: Path = SHARED) -> None:
    """Write what there is to write, and print what is open."""
    has_lists = all((shared / name).is_file() for name, _ in LISTS.values())
    if write:
        FILE.write_text(text())
        if has_lists:
            SOURCES.write_text(sources_text(shared), "utf-8")
    if not has_lists:
        print(f"skipped, because {shared} has no {' and no '.join(name for name, _ in LISTS.values())}:")
        print("  which rows of the lists no requirement names; what the rows say (sources.toml)")
        return
    found = by_row()
    for kind in LISTS:
        open_rows = [row for row in rows(kind, shared) if row not in found[kind] and f"{kind}:{row}" not in elsewhere()]
        print(f"{kind}: {len(found[kind])} rows shown, open: {' '.join(open_rows) or 'none'}")


if __name__ == "__main__":
    main(write=sys.argv[1:] == ["--write"])
