"""A requirement that has a row and no line in a profile is not certified: whoever asks for it hears what is missing."""

from __future__ import annotations

import dataclasses

import pytest

from turnproof.commands.certify.plan import select
from turnproof.errors import CatalogueError
from turnproof.judge.requirements import load_suite

SUITE = load_suite()
UNLISTED = "tools/call-ids-are-kept"
PROFILES = dataclasses.replace(
    SUITE,
    profiles=type(SUITE.profiles)(
        SUITE.profiles.name,
        {name: tuple(each for each in ids if each != UNLISTED) for name, ids in SUITE.profiles.profiles.items()},
    ),
)


def test_a_requirement_without_a_line_in_a_profile_is_named_with_the_file() -> None:
    with pytest.raises(CatalogueError) as refusal:
        select(PROFILES, [UNLISTED], [], [])
    file = f"profiles/{SUITE.profiles.name}.toml"
    assert f"is in requirements.toml but in no profile: add it to 'tools' in {file}" in str(refusal.value)


def test_a_requirement_with_its_line_is_found_and_another_name_gets_a_hint() -> None:
    assert [one.id for one in select(SUITE, [UNLISTED], [], [])] == [UNLISTED]
    with pytest.raises(CatalogueError, match="did you mean 'tools/call-ids-are-kept'"):
        select(SUITE, ["tools/call-ids-are-kep"], [], [])
