"""A difference that looks for its name: where it is, what stands there, and what it was read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..view.diff import ABSENT
from .aspect_readings import Reading
from .model import Aspect, Place
from .plain_forms import join_neighbours, join_parts

SYSTEM = re.compile(r"\$\.request\.(body\.)?(system|systemInstruction)\b")
"""The system text of a request, whatever its API calls it."""

MESSAGES = re.compile(r"\$\.request\.(body\.(messages|contents|input)\b|conversation)")
"""The messages of a request, whatever its API calls them."""


@dataclass(frozen=True)
class Case:
    """A difference that looks for its name: where it is, both values there (or `ABSENT`), and both whole readings.

    `same_request` says that the dialect reads both requests as the same conversation, `cancelled` that a turn was
    cancelled here or before, `uncalled` that one of the sides made no such call, `retried` that both sent equally many
    requests in this turn and made unequally many calls. `other_places` are all places that differ in the two readings.
    `dialect` is the tag of what the service itself issued, and `storage_fields` are the members of a body that name or
    order what it stores.
    """

    aspect: Aspect
    place: Place
    path: str
    left: object
    right: object
    one: Reading | None
    other: Reading | None
    same_request: bool = False
    cancelled: bool = False
    uncalled: bool = False
    retried: bool = False
    other_places: Sequence[tuple[str, object, object]] = ()
    dialect: str = ""
    storage_fields: frozenset[str] = frozenset()

    @property
    def lacking(self) -> bool:
        """Whether one of the sides has nothing here."""
        return self.left is ABSENT or self.right is ABSENT

    @property
    def alone(self) -> object:
        """What stands on the one side where the other has nothing; `ABSENT` where both have something."""
        if self.left is ABSENT:
            return self.right
        return self.left if self.right is ABSENT else ABSENT

    @property
    def in_conversation(self) -> bool:
        """Whether it is part of the system text or the messages of a request."""
        return bool(SYSTEM.match(self.path) or MESSAGES.match(self.path))

    @property
    def streamed(self) -> bool:
        """Whether the call was one that streams."""
        reading = self.one or self.other
        return reading is not None and reading.call is not None and reading.call.began.streamed

    @cached_property
    def same_when_joined(self) -> bool:
        """Whether both sides say the same once neighbouring messages, texts and thoughts are joined."""
        if self.one is None or self.other is None:
            return False
        one, other = self.one.value, self.other.value
        match self.aspect:
            case "wire":
                return self.same_request and self.in_conversation
            case "history":
                copy = "kept" if self.path.startswith("$.kept") else "session"
                return join_neighbours(one[copy] or []) == join_neighbours(other[copy] or [])
            case "answers":
                same = join_parts(one["parts"]) == join_parts(other["parts"])
                return same and self.path.startswith("$.parts")
            case _:
                return False
