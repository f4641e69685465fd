"""Names in the code: the list finds them wherever they are defined, and none is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts import load_script

lint = load_script("docs/name_lint.py")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def said(): ...", ["said"]),
        ("async def _told(kept, *, given=1): ...", ["_told", "given", "kept"]),
        ("lambda made: made", ["made"]),
        ("for said, text in rows: print(said)", ["said", "text"]),
        ("self._heard = 1", ["_heard"]),
        ("SAID = 1", ["SAID"]),
        ("class Told: ...", ["Told"]),
        ("match value:\n    case [gone, *rest]: ...", ["gone", "rest"]),
        ("try: ...\nexcept OSError as caught: ...", ["caught"]),
        ("class Row:\n    said: str\n    def f(self) -> None:\n        text: str = ''", ["Row", "f", "self", "text"]),
        ("print(row.said, given=1)", []),
    ],
)
def test_a_name_is_found_where_it_is_defined(source: str, names: list[str]) -> None:
    assert sorted(name for _, name in lint.names_in(source)) == sorted(names)


def test_a_listed_name_is_found_with_its_place_unless_it_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("text = 1\n_SAID = 2\nkept = 3\n")
    rules = lint.NameRules(frozenset({"said", "kept"}), ["*.py"], frozenset({("code.py", "kept")}))
    assert list(lint.find_names(rules, tmp_path)) == [
        "code.py:2: '_SAID': name what the value is, or what the function does"
    ]


def test_no_listed_name_is_in_the_code_and_every_exception_is_used() -> None:
    rules = lint.read_rules()
    found = {}
    for hit in lint.find_names(lint.NameRules(rules.words, rules.files, frozenset())):
        place, name, _ = hit.split(": ", 2)
        found[place.rpartition(":")[0], name.strip("'_").lower()] = hit
    assert [hit for name, hit in found.items() if name not in rules.allowed] == []
    assert rules.allowed <= found.keys()
