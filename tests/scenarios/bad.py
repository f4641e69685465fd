"""Scenario files with one mistake each (`refused.yaml`), and the check that the reader refuses each of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent, indent

import pytest
import yaml

from turnproof.errors import ScenarioError
from turnproof.scenarios import load

TOOLS = """\
title: T
tools:
  - {name: read, takes: {bed: string}}
  - {name: water}
results: {read: 41 %, water: done}
turns:
"""


@dataclass(frozen=True)
class Bad:
    """A file, where it is wrong, and words of the reason."""

    id: str
    text: str
    path: str
    reason: str


def file(id: str, text: str, path: str, reason: str) -> Bad:
    """A whole file."""
    return Bad(id, dedent(text), path, reason)


def turn(id: str, text: str, path: str, reason: str) -> Bad:
    """One turn of a scenario with the tools `read` and `water`; `path` continues `$.turns[0]`."""
    first, *rest = dedent(text).strip("\n").splitlines()
    body = "\n".join([f"  - {first}", indent("\n".join(rest), "    ")])
    return Bad(id, TOOLS + body + "\n", f"$.turns[0]{path}", reason)


def steps(id: str, text: str, path: str, reason: str) -> Bad:
    """One list of steps with sessions in front of a turn; `path` continues that of the list."""
    return turn(id, f"sessions: {text}\nuser: a\nmodel: b", f".sessions{path}", reason)


def bad_files(*kinds: str) -> list[Bad]:
    """The rows of the table, of these kinds alone if any are named."""
    table = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8"))
    makers = {"documents": file, "files": file, "turns": turn, "steps": steps}
    return [
        makers[kind](row["id"], row["text"], row["at"], row["reason"])
        for kind, rows in table.items()
        for row in rows
        if not kinds or kind in kinds
    ]


def check_refused(bad: Bad, folder: Path) -> None:
    """The file is refused with its name, the path and the reason."""
    file = folder / "bad.yaml"
    file.write_text(bad.text, encoding="utf-8")
    with pytest.raises(ScenarioError) as failure:
        load(file)
    assert failure.value.file == str(file)
    assert failure.value.path == bad.path
    assert bad.reason in failure.value.reason
    assert str(failure.value).startswith(f"{file}: {bad.path}: ")
