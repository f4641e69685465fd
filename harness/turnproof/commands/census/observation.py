"""One line of a census: what a service answered to a rule's pair of requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ...errors import UsageError

FORMAT = 1

Agreement: TypeAlias = Literal["agrees", "denies", "unclear"]

REFUSED = frozenset({400, 404, 405, 409, 410, 411, 413, 414, 415, 422})
"""Statuses with which a service says that a request is wrong."""

_LONGEST = 10_000_000


class ShortAnswer(msgspec.Struct, frozen=True):
    """An answer in short: the status, and of an error its kind and its words, without what is private."""

    status: int
    kind: str = ""
    message: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the request was taken. Some services tell an error under status 200."""
        return self.status == 200 and not self.kind and not self.message


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What a service answered to the pair of one rule. `rule` is the rule's whole id. `day` is ISO 8601.

    `loopback` says that the service ran on the contributor's own machine: such a line confirms nothing.
    """

    census: int = FORMAT
    turnproof: str
    dialect: str
    rule: str
    variant: str
    day: str
    host: str
    loopback: bool
    contributor: str
    model: str
    illegal: ShortAnswer
    legal: ShortAnswer

    @property
    def agreement(self) -> Agreement:
        """Whether the service refuses what the rule says, and only that."""
        if not self.legal.accepted:
            return "unclear"
        if self.illegal.accepted:
            return "denies"
        return "agrees" if self.illegal.status in (*REFUSED, 200) else "unclear"


def read_observations(path: Path) -> Iterator[Observation]:
    """The lines of a census. Raises UsageError with the number of a line that is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > _LONGEST:
        raise UsageError(f"{path} has more than {_LONGEST:,} bytes: that is no census")
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=Observation)
        except msgspec.MsgspecError as error:
            raise UsageError(f"{path}: line {number} is no line of a census: {error}") from error
        if found.census > FORMAT:
            raise UsageError(f"{path}: line {number} was written by a newer turnproof (format {found.census})")
        yield found
