"""A value of somebody's file with its place, so that what is wrong with it can be found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._base.frozen import shown
from ...errors import UsageError


@dataclass(frozen=True, slots=True)
class Place:
    """A value at `path` of a `file`. What is asked of it and not so raises UsageError."""

    value: Any
    file: str
    path: str = "$"

    def problem(self, what: str) -> UsageError:
        """What is wrong here, as an error to raise."""
        return UsageError(f"{self.file}: {self.path} {what}")

    def at(self, key: str) -> Place:
        """The member of that name."""
        found = self.get(key)
        if found is None:
            raise self.problem(f"has no {key!r}")
        return found

    def get(self, key: str) -> Place | None:
        """The member of that name, None where it is missing or null."""
        if not isinstance(self.value, dict):
            raise self.problem(f"should be an object, found {shown(self.value)}")
        value = self.value.get(key)
        return None if value is None else Place(value, self.file, f"{self.path}.{key}")

    def items(self) -> Iterator[Place]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.problem(f"should be a list, found {shown(self.value)}")
        for number, item in enumerate(self.value):
            yield Place(item, self.file, f"{self.path}[{number}]")

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.problem(f"should be a string, found {shown(self.value)}")
        return self.value

    def integer(self) -> int:
        """A whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.problem(f"should be a whole number, found {shown(self.value)}")
        return self.value
