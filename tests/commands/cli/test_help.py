"""The examples in help texts: each one works as it stands there."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import typer

from turnproof.commands.certify import mutants, plan
from turnproof.commands.certify.scenarios import chosen_scenarios, suite_scenarios
from turnproof.commands.cli import main
from turnproof.commands.cli.app import app
from turnproof.judge.requirements import load_suite


def select_requirements(pattern: str) -> object:
    return plan.select(load_suite(), [pattern], [], [])


def select_scenarios(pattern: str) -> object:
    return chosen_scenarios(suite_scenarios(load_suite()), [pattern])


SELECTIONS: dict[str, Callable[[str], object]] = {
    "only": select_requirements,
    "skip": select_requirements,
    "scenario": select_scenarios,
    "mutants --only": lambda pattern: mutants.select([pattern]),
    "record --only": select_scenarios,
}
"""What takes the value of an option: that of one command, or of all that have it."""

EXAMPLES = [
    (command, option.name or "", example)
    for command, definition in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
    for option in definition.params
    for example in re.findall(r"'([^']+)'", getattr(option, "help", "") or "")
]


def test_the_help_of_these_commands_has_examples() -> None:
    assert {command for command, _, _ in EXAMPLES} >= {"certify", "compare", "mutants", "record"}


@pytest.mark.parametrize(("command", "option", "example"), EXAMPLES)
def test_an_example_in_the_help_of_an_option_matches_something(command: str, option: str, example: str) -> None:
    """Each selection raises for a pattern that matches nothing."""
    select = SELECTIONS.get(f"{command} --{option}") or SELECTIONS[option]
    assert select(example)


@pytest.mark.parametrize("words", [["--help"], ["certify", "--help"], ["mutants", "--help"], ["list", "--help"]])
def test_help_comes_at_a_word(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert "Usage: turnproof" in capsys.readouterr().out


def test_the_example_of_explain_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", "--help"])
    found = re.search(r"For example (\S+?),", " ".join(capsys.readouterr().out.split()))
    assert found is not None
    assert main(["explain", found[1]]) == 0
    assert capsys.readouterr().out.startswith(found[1])


def test_whatever_list_says_it_lists_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    main(["list", "--help"])
    found = re.search(r"<([a-z|]+)>", capsys.readouterr().out)
    assert found is not None
    for kind in found[1].split("|"):
        assert main(["list", kind]) == 0
        assert capsys.readouterr().out
