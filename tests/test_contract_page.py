"""The page on the contract has every sentence of it, and each names a requirement that there is, or a reason."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_material import shared_dir

from turnproof.commands.gates.phases import load_phases
from turnproof.judge.requirements import load_suite
from turnproof.provider import LegacyProvider, ProviderBase, StatelessProvider

PAGE = (Path(__file__).parents[1] / "docs" / "contract.md").read_text("utf-8")
OURS, PLAN = PAGE.split("<!-- contract: begin -->")[1].split("<!-- contract: end -->")


def rows(tables: str) -> dict[str, tuple[str, str]]:
    """Each sentence with what asks for it, and why something is not asked."""
    lines = [line for line in tables.splitlines() if line.startswith("| ") and not line.startswith("| Sentence")]
    cells = [[cell.strip() for cell in line.strip("|").split(" |")] for line in lines]
    return {sentence: (checks, reason) for sentence, checks, reason, *_ in cells}


def sentences(document: str | None) -> list[str]:
    """The sentences of a docstring, each in one line."""
    return re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(inspect.cleandoc(document or "").split()))


def contract() -> Iterator[str]:
    for owner in (StatelessProvider, LegacyProvider, ProviderBase):
        yield from sentences(owner.__doc__)
    for member in vars(ProviderBase).values():
        found = member.fget if isinstance(member, property) else member
        if inspect.isfunction(found) and found.__doc__:
            yield from sentences(found.__doc__)


def plan() -> Iterator[str]:
    """What the plans of the migration say of `complete()`, from their code blocks: each docstring by its sentences."""
    for text in sorted((shared_dir() / "seeds").glob("*.txt")):
        for found in re.findall(
            r'def complete\(.*?\) -> ProviderResponse:\s+"""(.*?)"""', text.read_text("utf-8"), re.DOTALL
        ):
            for paragraph in re.split(r"\n\s*\n|\n(?=\s+\w+: )|(?:Args|Returns):\s*\n", inspect.cleandoc(found)):
                yield from (one for one in sentences(paragraph) if one)


def test_every_sentence_of_the_plans_is_on_the_page() -> None:
    assert set(plan()) - set(rows(PLAN)) == set()
    assert len(set(plan())) >= 15


def test_every_sentence_of_the_contract_is_on_the_page_and_no_other() -> None:
    assert list(rows(OURS)) == list(dict.fromkeys(contract()))


@pytest.mark.parametrize("sentence", [*rows(OURS), *rows(PLAN)])
def test_a_sentence_names_what_asks_for_it_or_why_nothing_does(sentence: str) -> None:
    checks, reason = rows(PAGE)[sentence]
    named = re.findall(r"`([^`]+)`", checks)
    assert named or reason
    requirements = {requirement.id for requirement in load_suite().requirements}
    criteria = {f"gate: {criterion.id}" for criterion in load_phases().criterion}
    assert set(named) <= requirements | criteria
