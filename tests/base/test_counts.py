"""Counts as people read them: one of a thing is never told in the plural."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import turnproof
from turnproof._base.counts import counted


@pytest.mark.parametrize(
    ("number", "what", "words"),
    [
        (1, "message", "1 message"),
        (0, "message", "0 messages"),
        (2, "more entry", "2 more entries"),
        (3, "process", "3 processes"),
        (2, "reply", "2 replies"),
        (2, "day", "2 days"),
        (2, "MUST", "2 MUSTs"),
        (1_000_000, "byte", "1000000 bytes"),
        (1.0, "time", "1 time"),
        (1.5, "time", "1.5 times"),
    ],
)
def test_a_count_has_the_number_of_its_noun(number: float, what: str, words: str) -> None:
    assert counted(number, what) == words


ROOT = Path(turnproof.__file__).parent
NOUNS = (
    "adapter|case|cell|character|comparison|conversation|difference|event|exchange|failure|line|message|mutant|part|"
    "profile|request|requirement|response|round|route|run|scenario|session|step|time|token|tool|transcript|turn|verdict"
)
PLURAL = re.compile(rf"^ (?:[a-z]+ )?(?:(?:{NOUNS})s|entries|processes)\b")
NOT_COUNTED = {
    "ATTEMPTS",  # a constant
    "self.prompt_tokens",  # thousands, with a comma among them
    "len(words) * times",  # millions
    "rounds",  # told otherwise where it is 1
    "'a round' if rounds == 1 else f'{rounds} rounds'",
    "', '.join(fields)",  # names
    "self.scenario.name",
    "more",  # lines of an excerpt that is cut: many
    "len(lines) - REQUEST_LINES",
    "len(text)",  # characters of what is cut, or long enough to be a secret: many
    "len(text) - end",
    "len(value)",
    "len(secret)",
}
"""Values in front of a fixed plural, each for its reason."""


def test_no_message_has_a_fixed_plural() -> None:
    """Of f-strings outside of the emulated services, whose words are not ours."""
    found = []
    for file in ROOT.rglob("*.py"):
        if {"dialects", "emulator"} & set(file.relative_to(ROOT).parts):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.JoinedStr):
                continue
            for value, text in zip(node.values, node.values[1:], strict=False):
                if (
                    isinstance(value, ast.FormattedValue)
                    and isinstance(text, ast.Constant)
                    and PLURAL.match(str(text.value))
                    and ast.unparse(value.value) not in NOT_COUNTED
                    and value.conversion == -1
                ):
                    words = str(text.value)[:30]
                    found.append(f"{file.relative_to(ROOT)}:{value.lineno}: {ast.unparse(value.value)}{words}")
    assert found == []
