"""A mutant is run and judged: real runs of the reference adapter, in one small scenario."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import pytest

import turnproof_adapters
from mutation.examine import Fate, Outcome
from mutation.mutant import Mutant
from mutation.run import MutationRun

FOLDER = Path(next(iter(turnproof_adapters.__path__)))
FILE = "anthropic/convert.py"
TEST = "tests/adapters/anthropic/test_blocks.py::test_a_user_part_becomes_its_block[pdf]"
SOURCE = (FOLDER / FILE).read_text("utf-8")


@dataclass(frozen=True)
class Case:
    """A line, what is put in its place, and what becomes of that: its fate, and what noticed it."""

    id: str
    line: str
    instead: str
    fate: Fate
    by: str = ""

    @property
    def mutant(self) -> Mutant:
        assert SOURCE.count(self.line) == 1
        number = SOURCE[: SOURCE.index(self.line)].count("\n") + 1
        return Mutant(
            file=FILE,
            function="",
            operator="",
            line=number,
            text=self.line,
            change=self.id,
            lines=range(number, number + 1),
            offset=0,
            make=lambda: SOURCE.replace(self.line, self.instead),
        )


CASES = (
    Case(
        "another text",
        'return {"type": "text", "text": content}',
        'return {"type": "text", "text": content.upper()}',
        Fate.KILLED,
        "core/wire-is-what-the-session-holds",
    ),
    Case(
        "an exception of its own",
        "block = text_block(part.text)",
        "block = text_block(part.txet)",
        Fate.KILLED,
        "errors/failures-are-typed",
    ),
    Case(
        "an adapter that cannot be opened",
        "def text_block(content: str)",
        "raise OSError\ndef x(content)",
        Fate.KILLED,
        "core/turns-come-to-an-end",
    ),
    Case(
        "the same", 'return {"type": "text", "text": content}', 'return dict(type="text", text=content)', Fate.SURVIVED
    ),
    Case("what a test alone comes by", 'kind = "document"', 'kind = "letter"', Fate.TESTED, TEST),
    Case("nothing comes by", 'return {"type": "json_schema", "schema": _closed(schema)}', "return {}", Fate.UNREACHED),
)
each = pytest.mark.parametrize("case", CASES, ids=attrgetter("id"))


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    run = MutationRun("turnproof_adapters", FOLDER, ["anthropic"], [TEST], only=["basics/plain"])
    return {mutant.change: outcome for mutant, outcome in run.judged([case.mutant for case in CASES])}


@each
def test_a_mutant_is_judged(case: Case, outcomes: dict[str, Outcome]) -> None:
    outcome = outcomes[case.id]
    assert (outcome.fate, outcome.by) == (case.fate, case.by)
