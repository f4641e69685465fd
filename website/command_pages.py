"""A page for each command: usage, arguments, options and exit codes, read from the program itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer.main

from turnproof._base.exit_codes import Exit
from turnproof.commands.cli.app import app

from .markdown import code, fenced, page, prose, table


def command_pages() -> Iterator[tuple[str, str]]:
    """Path and text of each page, and of their list."""
    commands = dict(sorted(_commands()))
    for name, command in commands.items():
        yield _path(name), _page(name, command)
    rows = [
        [f"[{code(f'turnproof {name}')}](commands/{name.replace(' ', '-')}.md)", prose(_summary(command))]
        for name, command in commands.items()
    ]
    yield (
        "reference/commands.md",
        page(
            "Commands and options",
            "Every command with its options. What they are for, the files they write and the exit codes: "
            "[commands](../commands.md).",
            table(["Command", "What it does"], rows),
        ),
    )


def command_names() -> list[str]:
    """Every command, and every command of a group (`sessions list`), in the order of names."""
    return sorted(name for name, _ in _commands())


def _path(name: str) -> str:
    return f"reference/commands/{name.replace(' ', '-')}.md"


def _commands() -> Iterator[tuple[str, Any]]:
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {each}", found) for each, found in inner.items())


def _summary(command: Any) -> str:
    return inspect.cleandoc(command.help or "").partition("\n\n")[0]


def _page(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = f"turnproof {name} {' '.join(command.collect_usage_pieces(context))}"
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    return page(
        code(f"turnproof {name}"),
        *(_paragraph(text) for text in paragraphs),
        fenced(usage, "text"),
        "## Arguments\n\n" + table(["Argument", "Meaning"], [_argument(each) for each in arguments])
        if arguments
        else "",
        "## Options\n\n" + table(["Option", "Meaning"], _rows(options, context)) if options else "",
        "## Exit codes\n\n" + table(["Code", "Meaning"], [[str(int(each)), each.words] for each in Exit]),
    )


def _paragraph(text: str) -> str:
    """A paragraph of a help text; an indented one is an example."""
    text = text.replace("\b\n", "")
    return fenced(inspect.cleandoc(text), "text") if text.startswith(("    ", "  ")) else prose(text)


def _argument(argument: Any) -> list[str]:
    return [code(argument.metavar or argument.name.upper()), prose(argument.help or "")]


def _rows(parameters: list[Any], context: Any) -> list[list[str]]:
    """What `--help` prints of them."""
    return [[code(names), prose(words)] for each in parameters for names, words in [each.get_help_record(context)]]
