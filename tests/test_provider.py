"""A binding is refused where it is written, with the field that is wrong and what belongs there."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import BindingError
from turnproof.provider import Binding, Capabilities, Difference

LEAST: dict[str, Any] = {
    "name": "mine",
    "dialect": "anthropic-messages",
    "model": "m",
    "capabilities": Capabilities(),
}


def test_what_may_be_left_out_may_be_left_out() -> None:
    assert Binding(**LEAST).declared == ()


@pytest.mark.parametrize("declared", [(), [Difference("blank-text", "reason")]])
def test_declared_differences_are_any_sequence_of_them(declared: Any) -> None:
    assert Binding(**LEAST, declared=declared).declared == declared


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "", "name is '', not a word"),
        ("dialect", None, "dialect is None, not a word"),
        ("model", 5, "model is 5, not a word"),
        ("capabilities", {"tools": True}, "not Capabilities, nor a function of the model"),
        ("open_stateless", "module:function", "open_stateless is 'module:function', not a function"),
        ("open_legacy", 1, "open_legacy is 1, not a function"),
        ("cache_plugin", 1, "cache_plugin is 1, not a function"),
        ("declared", None, "declared is None, not a list of Difference"),
        ("declared", ["blank-text"], "not a list of Difference"),
        ("signature", "long", "not 'full' or 'short'"),
        ("errors", "logged", "not 'raised' or 'returned'"),
        ("plain_calls", None, "plain_calls is None, not a mapping"),
        ("options", [], r"options is \[\], not a mapping"),
    ],
)
def test_anything_else_is_refused_by_its_name(field: str, value: Any, words: str) -> None:
    with pytest.raises(BindingError, match=words):
        Binding(**{**LEAST, field: value})
