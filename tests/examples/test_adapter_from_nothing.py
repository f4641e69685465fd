"""`docs/adapter-from-nothing.md`: its code put together step by step, its commands run, and what they said compared.

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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adapter-from-nothing.md"
EXAMPLE = ROOT / "examples" / "httpx_chat"
BLOCK = re.compile(r'^```(python title="(?P<file>[\w.]+)"|console)\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A block of the page: of Python where it has a `file`, else a command with what it prints."""

    file: str
    text: str


def steps() -> Iterator[Step]:
    for found in BLOCK.finditer(PAGE.read_text("utf-8")):
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


def test_the_code_of_the_page_put_together_is_the_example(tmp_path: Path) -> None:
    for step in steps():
        if step.file:
            put_in(tmp_path / step.file, step.text)
    for name in ("httpx_chat.py", "httpx_chat_binding.py"):
        made, example = (defined((folder / name).read_text("utf-8")) for folder in (tmp_path, EXAMPLE))
        assert made == example, name


def test_every_fault_of_the_page_is_found_and_its_fix_is_held() -> None:
    said = "\n".join(step.text for step in steps() if not step.file)
    found = re.findall(r"^(✗ violated|✓ held) (\S+/\S+)", said, re.MULTILINE)
    assert {name for mark, name in found if mark == "✗ violated"} <= {
        name for mark, name in found if mark == "✓ held"
    } | {"tools/definitions-are-sent-each-turn"}
    assert said.count("$ turnproof certify") == len(found) + 1


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_commands_of_the_page_say_what_the_page_says(tmp_path: Path) -> None:
    for step in steps():
        if step.file:
            put_in(tmp_path / step.file, step.text)
            continue
        command, *expected = step.text.splitlines()
        said = run(tmp_path, command.removeprefix("$ "))
        for line in expected:
            words = re.sub(r", (against|on) .*", "", line)
            if line != "...":
                assert words in said, f"{command}\n{said}"
