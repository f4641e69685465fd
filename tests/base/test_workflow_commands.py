"""What adapters and models say becomes no command of GitHub's runner, however it is written and wrapped."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnproof._base.workflow_commands import GuardedText, commands, without_commands
from turnproof.report.annotations import Annotation, write

OBEYED = re.compile(r"(?:\A|[\r\n])\s*::|##\[")
"""As the runner finds a command in what a step writes."""

WORDS = "it said ::error file=a::b and ::add-mask::x \u00a0::stop-commands::y ##[add-path]z " * 3


def written(*texts: str) -> str:
    raw = io.BytesIO()
    stream = GuardedText(raw, encoding="utf-8", newline="")
    for text in texts:
        assert stream.write(text) == len(text)
    stream.flush()
    return raw.getvalue().decode()


@pytest.mark.parametrize(
    "text",
    [
        "::error::x",
        " \t::x",
        "a\n::x",
        "a\r::x",
        "a\r\n  ::x",
        "\n\n::x",
        "\u2003::x",
        ":::x",
        "a ##[x",
        "::x\n::y\n##[z",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_no_line_is_a_command_in_whatever_pieces_it_comes(text: str, size: int) -> None:
    found = written(*(text[at : at + size] for at in range(0, len(text), size)))
    assert OBEYED.search(text)
    assert not OBEYED.search(found)
    assert found.replace("\\u003a", ":").replace("\\u005b", "[") == text


@pytest.mark.parametrize("text", ["a::b", "a ::b\n", "std::vector", ": :", "#[x", "## [x", "x: y\n:z\n", ""])
@pytest.mark.parametrize("size", [1, 100])
def test_anything_else_is_left_as_it_is(text: str, size: int) -> None:
    assert written(*(text[at : at + size] for at in range(0, len(text), size))) == text


def test_json_says_the_same() -> None:
    data = {"a": "##[error]x\n::y"}
    assert json.loads(written(json.dumps(data))) == data


def test_a_wrapped_text_begins_no_line_with_a_command() -> None:
    """As the terminal shows findings: in a column of a grid, wrapped at blanks."""
    bare = ""
    for width in range(20, 120):
        shown = []
        for stream in (io.StringIO(), GuardedText(io.BytesIO(), encoding="utf-8")):
            console = Console(file=stream, markup=False, color_system=None, width=width)
            table = Table.grid()
            table.add_column(width=4)
            table.add_column(overflow="fold")
            table.add_row("got", Text(WORDS))
            console.print(table)
            stream.seek(0)
            shown.append(stream.read())
        bare += shown[0]
        assert not OBEYED.search(shown[1])
    assert OBEYED.search(bare)  # without the guard it would


def test_our_own_annotations_are_commands_and_hold_no_control_character() -> None:
    raw = io.BytesIO()
    stream = GuardedText(raw, encoding="utf-8")
    hostile = "\x1b]0;pwn\x07 \x00 \x9b \u202e\n::error::x\r::error::y"
    write([Annotation("error", hostile, hostile, hostile, 3)], stream)
    stream.write("::error::of an adapter\n")
    stream.flush()
    first, second, end = raw.getvalue().decode().split("\n")
    assert first.startswith("::error file=")
    assert first.isprintable()
    assert second == ":\\u003aerror::of an adapter"
    assert end == ""


def test_a_stream_that_is_not_guarded_writes_commands_too() -> None:
    stream = io.StringIO()
    with commands(stream):
        stream.write("::x")
    assert stream.getvalue() == without_commands("a::x")[1:]


@pytest.mark.parametrize("how", ["environment", "option"])
def test_a_command_on_github_writes_none(how: str, tmp_path: Path) -> None:
    folder = tmp_path / "a\n::error::b\n##[c"
    words = ["--annotations"] if how == "option" else []
    environment = {**os.environ, "GITHUB_ACTIONS": "true" if how == "environment" else ""}
    command = [sys.executable, "-m", "turnproof", "certify", f"::error::x\n::y:{folder}", "##[x", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 2
    for stream in (done.stdout, done.stderr):
        assert not OBEYED.search(stream)
