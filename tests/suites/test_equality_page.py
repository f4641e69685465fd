"""The page on what counts as the same names functions and requirements that there are."""

from __future__ import annotations

import importlib
import re

import pytest

from turnproof.judge.requirements import load_suite

from .equality import BEGIN, END, PAGE, RELATIONS

TABLE = PAGE.read_text().split(BEGIN)[1].split(END)[0]


@pytest.mark.parametrize("address", [address for addresses in RELATIONS.values() for address in addresses])
def test_a_function_that_is_named_is_there(address: str) -> None:
    module, name = address.split(":")
    assert callable(getattr(importlib.import_module(module), name))
    assert f"`{address}`" in TABLE


def test_every_requirement_that_is_named_is_in_the_catalogue() -> None:
    named = set(re.findall(r"`([a-z]+/[a-z-]+)`", TABLE))
    assert named
    assert named <= {requirement.id for requirement in load_suite().requirements}


@pytest.mark.parametrize("what", RELATIONS)
def test_a_relation_is_asked_by_a_requirement(what: str) -> None:
    row = next(line for line in TABLE.splitlines() if line.startswith(f"| {what} |"))
    assert re.search(r"`[a-z]+/[a-z-]+` \|$", row)
