"""Mutants are made of the right places, and say where those are."""

from __future__ import annotations

import ast

import pytest

pytest.importorskip("mutmut", reason="mutants are made by mutmut: nox -s mutation")

from mutation.generate import mutants
from mutation.mutant import Mutant

SOURCE = '''"""What it promises."""

from typing import TypeAlias

Names: TypeAlias = dict[str, int]
FINISH = {"end": "stop"}


class Reader:
    def read(self, block: dict[str, "str"], limit: int = 4) -> str | None:
        if limit < 1:
            raise ValueError("no room", limit)
        for kind in ("text", "text"):
            if (
                block.get("type") == kind
            ):
                return str(
                    block["data"],
                )
        match limit:
            case 2:
                return "two"
            case 3:
                return "three"
        return None
'''


@pytest.fixture(scope="module")
def sample_mutants(tmp_path_factory: pytest.TempPathFactory) -> list[Mutant]:
    path = tmp_path_factory.mktemp("mutation") / "sample.py"
    path.write_text(SOURCE, "utf-8")
    return mutants(path, "one/sample.py")


def on(sample_mutants: list[Mutant], text: str) -> list[Mutant]:
    return [one for one in sample_mutants if one.text == text]


def test_every_mutant_is_another_program(sample_mutants: list[Mutant]) -> None:
    programs = {ast.dump(ast.parse(one.source)) for one in sample_mutants}
    assert len(programs) == len(sample_mutants) > 20
    assert ast.dump(ast.parse(SOURCE)) not in programs


def test_a_mutant_says_where_it_is_and_what_became_what(sample_mutants: list[Mutant]) -> None:
    (found,) = [one for one in sample_mutants if one.operator == "swap_op" and "limit" in one.text]
    assert (found.file, found.function, found.line) == ("one/sample.py", "Reader.read", 11)
    assert (found.text, found.change) == ("if limit < 1:", "< -> <=")
    assert "if limit <= 1:" in found.source


def test_at_the_top_of_a_module_there_is_no_function(sample_mutants: list[Mutant]) -> None:
    assert {one.function for one in on(sample_mutants, 'FINISH = {"end": "stop"}')} == {""}


def test_the_same_change_in_two_places_of_a_line_is_two_mutants(sample_mutants: list[Mutant]) -> None:
    both = [one for one in sample_mutants if one.change == "text -> XXtextXX"]
    assert len(set(both)) == 2
    assert len({one.source for one in both}) == 2


def test_within_a_statement_of_several_lines_the_line_is_that_of_the_change(sample_mutants: list[Mutant]) -> None:
    (found,) = [one for one in sample_mutants if one.change == "data -> XXdataXX"]
    assert found.text == 'block["data"],'
    assert found.lines == range(17, 20)


def test_of_a_statement_with_others_in_it_the_lines_are_those_of_its_head(sample_mutants: list[Mutant]) -> None:
    (found,) = [one for one in sample_mutants if one.change == "== -> !="]
    assert found.lines == range(14, 17)


def test_a_change_of_several_lines_is_told_by_its_first_one(sample_mutants: list[Mutant]) -> None:
    assert {one.change for one in sample_mutants if one.operator == "match"} == {"2: ... ->", "case 3: ... ->"}


@pytest.mark.parametrize("words", ["no room", "dict[str, int]", "What it promises"])
def test_what_has_no_meaning_to_a_run_is_left_alone(sample_mutants: list[Mutant], words: str) -> None:
    assert all(words in one.source for one in sample_mutants)
