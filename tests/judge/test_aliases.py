"""Aliases in JSON: whole strings get theirs, whatever they are made of, and all else stays as it is."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from turnproof.judge.view.aliases import Aliases
from turnproof.messages import JSON

LETTERS = 'ab",:[]{}\\ \n\u00e9\U0001f600/'


def aliases(names: Mapping[str, str]) -> Aliases:
    found = Aliases()
    for name, alias in names.items():
        found.add(name, alias)
    return found


def by_hand(value: JSON, names: Mapping[str, str]) -> JSON:
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        return {key: by_hand(item, names) for key, item in value.items()}
    return [by_hand(item, names) for item in value] if isinstance(value, list | tuple) else value


def drawn_text(draw: random.Random) -> str:
    return "".join(draw.choices(LETTERS, k=draw.randint(0, 5)))


def drawn_value(draw: random.Random, names: list[str], depth: int = 0) -> JSON:
    kind = draw.random()
    if kind < 0.5 or depth > 3:
        return draw.choice([drawn_text(draw), draw.choice(names), drawn_text(draw) + draw.choice(names)])
    if kind < 0.6:
        return draw.choice([1, 1.5, None, True, 2**70, -3])
    inner = [drawn_value(draw, names, depth + 1) for _ in range(draw.randint(0, 4))]
    if kind < 0.8:
        return inner
    return {draw.choice([drawn_text(draw), draw.choice(names)]): item for item in inner}


@pytest.mark.parametrize("seed", range(20))
def test_any_name_is_replaced_in_any_value_as_by_hand(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(100):
        names = {name: f"alias of {name}" for name in (drawn_text(draw) or "x" for _ in range(3))}
        value = drawn_value(draw, list(names))
        found = aliases(names).within(value)
        assert repr(found) == repr(by_hand(value, names)), (names, value)


def test_a_name_that_is_a_part_of_a_text_or_a_key_stays() -> None:
    value = {"toolu_1": ["toolu_1", "toolu_1", "a toolu_1", '"toolu_1"', '\\"toolu_1', {"id": "toolu_1"}]}
    expected = {"toolu_1": ["call-0", "call-0", "a toolu_1", '"toolu_1"', '\\"toolu_1', {"id": "call-0"}]}
    assert aliases({"toolu_1": "call-0"}).within(value) == expected


@pytest.mark.parametrize("name", [",", ":", "]", "},"])
def test_a_name_of_punctuation_is_not_found_between_texts(name: str) -> None:
    value = ["a", "b", {"c": "d", "e,": ["f"], "g": {"h": "i"}}, name]
    assert aliases({name: "call-0"}).within(value) == [*value[:-1], "call-0"]


def test_an_alias_that_is_the_name_of_something_else_is_not_replaced_again() -> None:
    assert aliases({"a": "b", "b": "c"}).within(["a", "b"]) == ["b", "c"]


def test_half_of_a_surrogate_pair_stays_beside_an_alias() -> None:
    assert aliases({"a": "b"}).within(["a", "\ud83d"]) == ["b", "\ud83d"]
    assert aliases({"\ud83d": "b"}).within(["a", "\ud83d"]) == ["a", "b"]


def test_a_name_that_is_added_later_is_replaced_from_then_on() -> None:
    known = aliases({"a": "b"})
    assert known.within(["a", "z"]) == ["b", "z"]
    known.add("z", "y")
    assert known.within(["a", "z"]) == ["b", "y"]


def test_long_texts_of_a_large_value_are_not_copied() -> None:
    text = "word " * 20_000
    assert aliases({"a": "b"}).within({"id": "a", "text": text})["text"] is text
