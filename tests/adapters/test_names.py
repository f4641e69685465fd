"""The rewriting of names and ids by itself, for an API whose names may not begin as they may go on."""

from __future__ import annotations

import re

import pytest

from turnproof_adapters._names import Naming

NAMING = Naming("[a-z_]", "[a-z0-9_-]", 20)


@pytest.mark.parametrize(
    ("word", "legal"),
    [
        ("srv.ls", "srv_ls"),
        ("a\nb", "a_b"),
        ("\u5317", "_"),
        ("9lives", "_9lives"),
        ("-", "_-"),
        ("a\ud83d", "a_"),
        ("", "_"),
        ("x" * 21, "x" * 8),
        ("9" * 21, "_" + "9" * 7),
        ("." * 21, "_" * 8),
    ],
)
def test_a_word_keeps_its_legal_characters_as_far_as_there_is_room(word: str, legal: str) -> None:
    name = NAMING.name(word)
    assert re.fullmatch(rf"{legal}-x[0-9a-f]{{10}}", name)
    assert len(name) <= NAMING.limit
    assert NAMING.name(word) == name, "it depends on the word only"


@pytest.mark.parametrize("word", ["ls", "_ls-2", "x" * 20])
def test_a_legal_word_is_left_alone(word: str) -> None:
    assert NAMING.name(word) == NAMING.unbounded(word) == word


def test_a_word_of_any_length_stays_whole_where_the_api_sets_no_limit() -> None:
    assert NAMING.unbounded("x" * 50) == "x" * 50
    assert re.fullmatch(r"x{25}_y{25}-x[0-9a-f]{10}", NAMING.unbounded("x" * 25 + "." + "y" * 25))
    assert re.fullmatch(r"_9{50}-x[0-9a-f]{10}", NAMING.unbounded("9" * 50))


def test_only_a_rewritten_name_is_looked_up() -> None:
    lookups = []

    def names() -> list[str]:
        lookups.append("asked")
        return ["other.tool", "mcp.srv.ls"]

    restore = NAMING.restorer(names)
    assert restore("ls") == "ls"
    assert not lookups
    assert restore(NAMING.name("mcp.srv.ls")) == "mcp.srv.ls"
    assert restore("ghost-x0123456789") == "ghost-x0123456789"
