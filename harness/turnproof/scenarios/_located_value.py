"""`LocatedValue`: a value of a scenario file together with where it stands, so that every refusal can say so.

A reader asks a spot for what it expects (`spot.mapping(...)`, `spot.integer(...)`); anything else is refused with
the file, the JSON path, the line and what would have been right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from .._base.suggestions import did_you_mean
from ..errors import ScenarioError
from ..messages import freeze
from ._document import child

MAX_TEXT = 4_000_000

T = TypeVar("T", bound=str)


@dataclass(frozen=True, slots=True)
class LocatedValue:
    """One value and its place. `lines` maps JSON paths to lines of the file."""

    value: Any
    file: str
    path: str = "$"
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)

    def problem(self, reason: str) -> ScenarioError:
        """The error that says what is wrong here."""
        line = self.lines.get(self.path)
        return ScenarioError(self.file, self.path, f"line {line}: {reason}" if line else reason)

    def refuse(self, reason: str) -> NoReturn:
        """Raise that error."""
        raise self.problem(reason)

    def at(self, key: str | int) -> LocatedValue:
        """The member or item under `key`, which must be there."""
        return LocatedValue(self.value[key], self.file, child(self.path, key), self.lines)

    def get(self, key: str) -> LocatedValue | None:
        """The member under `key`, or None."""
        return self.at(key) if key in self.value else None

    def with_value(self, value: Any) -> LocatedValue:
        """Another value in the same place."""
        return LocatedValue(value, self.file, self.path, self.lines)

    # -- what a reader may expect -----------------------------------------------------------------------------

    def mapping(self, allowed: Iterable[str], required: Iterable[str] = (), what: str = "a mapping") -> LocatedValue:
        """This spot, being a mapping with no key outside `allowed` and every one of `required`."""
        self.members(what)
        known = list(allowed)
        for key in self.value:
            if key not in known:
                self.at(key).refuse(f"unknown key {key!r}{did_you_mean(key, known) or _one_of(known)}")
        for key in required:
            if key not in self.value:
                self.refuse(f"{what} needs {key!r}")
        return self

    def members(self, what: str = "a mapping") -> list[tuple[str, LocatedValue]]:
        """The members of a mapping whose keys are free."""
        if not isinstance(self.value, dict):
            self.refuse(f"expected {what}, found {self._kind()}")
        return [(key, self.at(key)) for key in self.value]

    def items(self, what: str = "a list") -> list[LocatedValue]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.refuse(f"expected {what}, found {self._kind()}")
        return [self.at(index) for index in range(len(self.value))]

    def one_or_many(self) -> list[LocatedValue]:
        """The items of a list, or this spot alone if it is no list."""
        return self.items() if isinstance(self.value, list) else [self]

    @property
    def is_text(self) -> bool:
        """Whether this is a text: written out, or `{repeat: "words ", times: 300}`."""
        return isinstance(self.value, str) or (isinstance(self.value, dict) and "repeat" in self.value)

    def text(self, what: str = "text") -> str:
        """A string: written out, or repeated."""
        if isinstance(self.value, dict) and self.is_text:
            self.mapping(("repeat", "times"), ("repeat", "times"), "a repetition")
            return self.repetition()[0] * self.repetition()[1]
        if not isinstance(self.value, str):
            hint = "; quote it" if isinstance(self.value, int | float | bool) or self.value is None else ""
            self.refuse(f"expected {what}, found {self._kind()}{hint}")
        return self.value

    def repetition(self) -> tuple[str, int]:
        """The words and the count of a `{repeat: ..., times: ...}`."""
        words, times = self.at("repeat").nonempty_text("the text to repeat"), self.at("times").integer(1)
        if len(words) * times > MAX_TEXT:
            self.refuse(f"repeats to {len(words) * times:,} characters; {MAX_TEXT:,} are allowed")
        return words, times

    def nonempty_text(self, what: str = "text") -> str:
        """A string that is written out and not empty."""
        if not isinstance(self.value, str) or not self.value:
            self.refuse(f"expected {what}, found {self._kind()}")
        return self.value

    def integer(self, least: int, most: int | None = None) -> int:
        """A whole number in a range."""
        if type(self.value) is not int:
            self.refuse(f"expected a whole number, found {self._kind()}")
        if self.value < least or (most is not None and self.value > most):
            self.refuse(
                f"{self.value} is out of range: {least} to {most}" if most is not None else f"must be {least} or more"
            )
        return self.value

    def number(self, least: float = 0.0) -> float:
        """A number, not below `least`."""
        if type(self.value) not in (int, float):
            self.refuse(f"expected a number, found {self._kind()}")
        if self.value < least:
            self.refuse(f"must be {least:g} or more")
        return float(self.value)

    def flag(self) -> bool:
        """`true` or `false`."""
        if type(self.value) is not bool:
            self.refuse(f"expected true or false, found {self._kind()}")
        return self.value

    def choice(self, allowed: Sequence[T]) -> T:
        """One of some words."""
        for word in allowed:
            if self.value == word:
                return word
        if isinstance(self.value, str):
            self.refuse(f"unknown word {self.value!r}{did_you_mean(self.value, allowed) or _one_of(allowed)}")
        raise self.problem(f"expected a word, found {self._kind()}{_one_of(allowed)}")

    def choices(self, allowed: Sequence[T]) -> tuple[T, ...]:
        """One or several of some words, none twice."""
        found: list[T] = []
        for item in self.one_or_many():
            word = item.choice(allowed)
            if word in found:
                item.refuse(f"{word!r} stands here twice")
            found.append(word)
        return tuple(found)

    def json(self) -> Any:
        """Any JSON value, frozen; a repetition stands for its text."""
        return freeze(self._expanded())

    def _expanded(self) -> Any:
        match self.value:
            case {"repeat": _, "times": _, **rest} if not rest:
                return self.text()
            case dict():
                return {key: self.at(key)._expanded() for key in self.value}
            case list():
                return [self.at(index)._expanded() for index in range(len(self.value))]
            case _:
                return self.value

    def json_object(self, what: str = "an object") -> dict[str, Any]:
        """A JSON object, frozen."""
        self.members(what)
        frozen: dict[str, Any] = self.json()
        return frozen

    def _kind(self) -> str:
        value = self.value
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, dict):
            return f"a mapping with {', '.join(map(repr, list(value)[:4]))}" if value else "an empty mapping"
        if isinstance(value, list):
            return f"a list of {len(value)}"
        if isinstance(value, str):
            return f"the text {value:.40}" if value else "an empty text"
        return f"the number {value}"


def _one_of(words: Iterable[str]) -> str:
    return "; one of " + ", ".join(words)
