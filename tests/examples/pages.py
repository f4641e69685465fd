"""Pages that build something step by step: their code put together, their commands run.

A block of Python with a file's name is a version of what it defines: of the file, of a function, a class or a constant.
Real processes, as a reader has them.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```(python title="(?P<file>[\w.]+)"|console)\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A block of the page: of Python where it has a `file`, else a command with what it prints."""

    file: str
    text: str


def steps(page: str) -> Iterator[Step]:
    """The blocks of a page of `docs/`, in order."""
    for found in BLOCK.finditer((ROOT / "docs" / page).read_text("utf-8")):
        yield Step(found["file"] or "", found["text"])


def defined(source: str) -> dict[str, str]:
    """What a source defines, by name, in order; imports together under one name each."""
    lines = source.splitlines(keepends=True)
    parts: dict[str, str] = {}
    for node in ast.parse(source).body:
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        text = "".join(lines[first - 1 : node.end_lineno]).rstrip("\n")
        match node:
            case ast.Import():
                parts[f"import {node.names[0].name}"] = text
            case ast.ImportFrom():
                parts[f"import {node.module}"] = text
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                parts[node.name] = text
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                parts[name] = text
            case ast.Expr():
                parts["docstring"] = text
            case _:
                raise AssertionError(f"what is this block about? {text[:80]}")
    return parts


def put_in(file: Path, text: str) -> None:
    """Put a block into its file, as the page says: over what has its names, and what is new in front of the class."""
    if not file.exists():
        file.write_text(text, "utf-8")
        return
    parts = defined(file.read_text("utf-8")) | defined(text)
    order = sorted(parts.items(), key=lambda part: _place(part[0]))
    file.write_text("\n\n\n".join(text for _, text in order) + "\n", "utf-8")


def _place(name: str) -> int:
    if name in ("docstring", "import __future__"):
        return 0 if name == "docstring" else 1
    if name.startswith("import "):
        return 2
    return 4 if name == "HttpxChat" else 3


def run(folder: Path, command: str) -> str:
    words = shlex.split(command)
    program = str(Path(sys.executable).with_name(words[0]))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=250, check=False
    )
    return done.stdout + done.stderr


def follow(page: Iterable[Step], folder: Path) -> None:
    """Do what a page says, in a folder: put its code together, run its commands, and compare what they print."""
    for step in page:
        if step.file:
            put_in(folder / step.file, step.text)
            continue
        command, *expected = step.text.splitlines()
        printed = run(folder, command.removeprefix("$ "))
        for line in expected:
            words = re.sub(r", (against|on) .*", "", line)
            if line != "...":
                assert words in printed, f"{command}\n{printed}"
