"""What the census decided about rules: services that were seen to refuse, or to accept, what a rule is about.

`census.json` beside this module is written by `turnproof census --merge FILES --write`.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Literal

import msgspec


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a vendor's service does about a rule (its whole id): it refuses (`recorded`), or it accepts (`denied`).

    `day` is the last on which it was seen (ISO 8601), `address` where the contributions can be read.
    """

    rule: str
    says: Literal["recorded", "denied"]
    host: str
    day: str
    contributors: int
    address: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    decisions: tuple[Decision, ...]


@cache
def decided() -> dict[str, Decision]:
    """The decisions by rule."""
    file = resources.files(__package__).joinpath("census.json")
    return {one.rule: one for one in msgspec.json.decode(file.read_bytes(), type=_File).decisions}


def text_of(decisions: list[Decision]) -> bytes:
    """The file with these decisions."""
    return msgspec.json.format(msgspec.json.encode(_File(tuple(decisions))), indent=1) + b"\n"
