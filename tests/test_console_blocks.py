"""Every command on the pages is one that exists, with these options; those that take a second are run.

`nox -s docs -- --commands` runs the others (`website.run_blocks`).
"""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Any

import pytest
import typer.main
from website.console_blocks import blocks
from website.repository import ROOT
from website.run_blocks import ELSEWHERE, NOT_RUN, main, shortened

from turnproof.commands.cli.app import app

BLOCKS = list(blocks())
COMMANDS = sorted({command for block in BLOCKS for command in block.commands})
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OTHERS = {"cp", "dask", "git", "head", "run"}


def parse(words: list[str]) -> dict[str, Any]:
    """What the program makes of a command's words; raises for an option or a value that there is not."""
    group: Any = typer.main.get_command(app)
    name, *rest = words
    if name.startswith("-"):
        return {}
    command = group.commands[name]
    if hasattr(command, "commands"):
        command, rest = command.commands[rest[0]], rest[1:]
    parameters: dict[str, Any] = command.make_context(name, rest).params
    return parameters


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_on_a_page_exists_with_its_options(command: str) -> None:
    for part in shortened(command) and shlex.join(shortened(command)).split("'&&'"):
        words = [word for word in shlex.split(part) if not re.fullmatch(r"[A-Z_]+=\S*", word)]
        program = words[0].rpartition("/")[2]
        if program == "turnproof":
            parse(words[1:])
        elif program == "nox":
            noxfile = (ROOT / "noxfile.py").read_text("utf-8")
            sessions = set(re.findall(r"^@nox\.session.*\n(?:@.*\n)*def (\w+)", noxfile, re.MULTILINE))
            named = [word for word in words[2:] if re.fullmatch(r"[a-z_]+", word)]
            assert "--list" in words or named[0] in sessions, words
        elif program == "pip":
            extras = ",".join(re.findall(r"\[([^\]]*)\]", part)).split(",")
            assert set(filter(None, extras)) <= set(PROJECT["optional-dependencies"])
        elif words[1:2] == ["-m"] and words[2].startswith("tests."):
            file = ROOT / words[2].replace(".", "/")
            assert file.with_suffix(".py").is_file() or (file / "__main__.py").is_file()
        else:
            assert program in {"pytest", "python", "python3", "cd", *OTHERS}, words


def test_at_most_ten_blocks_are_run_by_nothing_and_each_has_its_reason() -> None:
    assert len(NOT_RUN) <= 10
    assert all(NOT_RUN.values())
    names = {str(block) for block in BLOCKS}
    assert names >= NOT_RUN.keys() | ELSEWHERE.keys()
    assert not NOT_RUN.keys() & ELSEWHERE.keys()
    assert all((ROOT / where).exists() for where in ELSEWHERE.values())


def test_every_block_has_a_command() -> None:
    assert [str(block) for block in BLOCKS if not block.commands] == []


def test_a_block_without_prompts_is_commands_and_one_with_prompts_has_output() -> None:
    install = [block for block in BLOCKS if block.page == "docs/install.md"]
    assert install[0].commands == ("pip install PATH_OF_THE_CHECKOUT",)
    first = next(block for block in BLOCKS if block.page == "docs/first-certificate.md")
    assert first.commands[-1] == "turnproof certify httpx_chat_binding:BINDING"


RUNNABLE = {command for block in BLOCKS if str(block) not in NOT_RUN for command in block.commands}
QUICK = [command for command in COMMANDS if command in RUNNABLE and re.match(r"turnproof (explain|list) ", command)]


@pytest.mark.parametrize("command", QUICK)
def test_a_quick_command_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    group: Any = typer.main.get_command(app)
    group.main(shortened(command)[1:], standalone_mode=False)
    assert capsys.readouterr().out


def test_a_command_is_shortened_only_where_it_does_not_say_how_much() -> None:
    assert shortened("turnproof certify mine")[-2:] == ["--scenario", "tools/one"]
    assert shortened("turnproof certify mine --scenario x.yaml")[-1] == "x.yaml"
    assert shortened("turnproof explore mine -n 3000 --seed 7")[2:] == ["mine", "-n", "2", "--seed", "7"]
    assert shortened("turnproof compare before after") == ["turnproof", "compare", "before", "after"]


def test_a_page_that_has_no_blocks_is_not_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs/no-such-page.md"]) == 2
    assert capsys.readouterr().out.startswith("no page with console blocks: docs/no-such-page.md; ")
