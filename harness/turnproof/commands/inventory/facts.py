"""What is known of a value in the source: where it is held, what is in it, what it is.

A value is a set of facts, of which any may be true: source is read without running it, so both ways of an `if` count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from types import ModuleType
from typing import TypeAlias

from .sources import Function


class Degree(IntEnum):
    """How much of something a value still is."""

    DERIVED = 1
    """Made of it, in a way that nobody knows."""
    COPY = 2
    """The same elements in another container."""
    SAME = 3
    """The very object: to change it is to change that."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object keeps something: an attribute of a class's objects, or a name in a module.

    All objects of a class are one here. `path` is the attribute; with dots, attributes of what it holds.
    """

    owner: type | str
    path: str

    def below(self, attribute: str) -> Place:
        """An attribute of what is held here. Far down, the place itself: source that goes on forever is finite too."""
        return self if self.path.count(".") >= 2 else Place(self.owner, f"{self.path}.{attribute}")

    def is_in(self, other: Place) -> bool:
        """Whether this is `other`, or a part of what is held there."""
        return self.owner == other.owner and (self.path == other.path or self.path.startswith(f"{other.path}."))


@dataclass(frozen=True, slots=True)
class Contents:
    """What a place holds, or a part of it."""

    place: Place
    degree: Degree


@dataclass(frozen=True, slots=True)
class Input:
    """What somebody said to the object: a message, or a whole conversation."""

    degree: Degree


@dataclass(frozen=True, slots=True)
class Object:
    """An object of a class whose source is read."""

    cls: type


@dataclass(frozen=True, slots=True)
class Class:
    """Such a class itself."""

    cls: type


@dataclass(frozen=True, slots=True)
class Super:
    """An object of `cls`, seen from behind the class `after`."""

    cls: type
    after: type


@dataclass(frozen=True, slots=True)
class Code:
    """A function, or a method bound to an object of `cls`."""

    function: Function
    cls: type | None


@dataclass(frozen=True, slots=True)
class Local:
    """A function or lambda that stands in the function that is being read."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True, slots=True)
class Module:
    """A module."""

    module: ModuleType


@dataclass(frozen=True, slots=True)
class Word:
    """A text that stands in the source, and may be the name of an attribute."""

    text: str


class Mark(Enum):
    """What else a value may be."""

    CHAT = "chat"
    """An SDK's chat object."""
    CHAT_ID = "chat-id"
    """The id of one, by which a service keeps it."""
    PROVIDER = "provider"
    """A provider that a session calls."""
    CONTAINER = "container"
    """A list, or another container that grows."""
    WEAK = "weak"
    """A container with weak references."""


Fact: TypeAlias = Contents | Input | Object | Class | Super | Code | Local | Module | Word | Mark
Value: TypeAlias = frozenset[Fact]

NOTHING: Value = frozenset()


def joined(values: Iterable[Value]) -> Value:
    """All that may be true of one of them."""
    return frozenset().union(*values)


def copied(value: Value) -> Value:
    """The same elements in a new container."""
    return frozenset((*_lowered(value, Degree.COPY), Mark.CONTAINER)) - {Mark.WEAK}


def elements(value: Value) -> Value:
    """What is in a container: the same facts, since a container and what is in it are one place."""
    return value - {Mark.CONTAINER, Mark.WEAK}


def derived(value: Value) -> Value:
    """Something made of it."""
    return frozenset(fact for fact in _lowered(value, Degree.DERIVED) if isinstance(fact, Contents | Input))


def places(value: Value) -> list[Place]:
    """The places whose very content it may be."""
    return [fact.place for fact in value if isinstance(fact, Contents) and fact.degree is Degree.SAME]


def degree_of_input(value: Value) -> Degree | None:
    """How much of what was said is in it, at the most."""
    return max((fact.degree for fact in value if isinstance(fact, Input)), default=None)


def texts_of(value: Value) -> list[str]:
    """The texts that it may be."""
    return sorted(fact.text for fact in value if isinstance(fact, Word))


def _lowered(value: Value, degree: Degree) -> Iterable[Fact]:
    for fact in value:
        if isinstance(fact, Contents | Input) and fact.degree > degree:
            yield replace(fact, degree=degree)
        else:
            yield fact
