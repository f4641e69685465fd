"""Reading what a server might send: a value of another kind than expected counts as absent, and nothing raises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from ..messages import JSON

_decode = msgspec.json.Decoder().decode
_TOO_MANY = 1 << 50


def json_of(data: bytes | str) -> JSON:
    """The JSON value, or None for what is none (or is nested too deeply to be read)."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def word(value: JSON) -> str | None:
    """A string; None for anything else."""
    return value if isinstance(value, str) else None


def number(thing: Mapping[str, Any], name: str) -> int:
    """A member that counts something; 0 where it is missing, no integer, or more than there can be of anything."""
    value = thing.get(name)
    return value if type(value) is int and abs(value) < _TOO_MANY else 0


def seconds(value: str | None) -> float | None:
    """A number of seconds, as `retry-after` has it; None for a date or anything else."""
    try:
        found = math.nan if value is None else float(value)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
