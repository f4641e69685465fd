"""The migration flag: who says on or off, and what a path it is that follows."""

from __future__ import annotations

from typing import Any

import pytest

from turnproof.errors import UsageError
from turnproof.session.flag import is_on, path_by_flag
from turnproof.subject import Flag

OFF, ON = Flag("X"), Flag("X", default=True)


@pytest.mark.parametrize("flag", [OFF, ON])
@pytest.mark.parametrize("environ", [{}, {"X": ""}, {"X": "  "}, {"Y": "on"}])
def test_while_nobody_has_said_anything_the_default_holds(flag: Flag, environ: dict[str, str]) -> None:
    assert is_on(flag, environ) is flag.default


@pytest.mark.parametrize(
    ("word", "on"),
    [("1", True), ("on", True), ("True", True), (" yes ", True), ("0", False), ("OFF", False), ("no", False)],
)
def test_the_environment_wins_over_the_default(word: str, on: bool) -> None:
    assert is_on(OFF, {"X": word}) is on
    assert is_on(ON, {"X": word}) is on


def test_a_word_that_is_neither_is_refused_with_both_sides() -> None:
    with pytest.raises(UsageError, match=r"X='onn' is neither on nor off; did you mean 'on'"):
        is_on(OFF, {"X": "onn"})


def test_the_real_environment_is_asked_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X", "on")
    assert is_on(OFF)


@pytest.mark.parametrize(
    ("environ", "available", "path"),
    [
        ({}, ("stateless", "legacy"), "legacy"),
        ({"X": "on"}, ("stateless", "legacy"), "stateless"),
        ({"X": "on"}, ("legacy",), "legacy"),
        ({}, ("stateless",), "stateless"),
    ],
)
def test_the_path_follows_the_flag_as_far_as_the_provider_has_it(
    environ: dict[str, str], available: Any, path: str
) -> None:
    assert path_by_flag(OFF, available, environ) == path


def test_a_provider_without_any_path_is_refused() -> None:
    with pytest.raises(UsageError, match="no path can be taken"):
        path_by_flag(OFF, (), {})
