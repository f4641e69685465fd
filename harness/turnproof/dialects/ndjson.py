"""Newline-delimited JSON as bytes: split without losing one, read without trusting them.

`lines()` cuts a body behind each line feed; the pieces joined are the body, also when it ends in mid-line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..messages import JSON
from .lenient_reading import json_of

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line as it stood on the wire. `data` is its JSON, None where it has none; `closed` that its end was there."""

    raw: bytes
    data: JSON
    closed: bool

    @property
    def blank(self) -> bool:
        return not self.raw.strip()


def lines(body: bytes) -> list[Line]:
    """The body's lines in order; their `raw` bytes joined are the body."""
    return [Line(raw, json_of(raw), raw.endswith(b"\n")) for raw in _LINE.findall(body)]


def is_ndjson(content_type: str) -> bool:
    """Whether a response is a stream of lines, by its content type."""
    return content_type.split(";", 1)[0].strip().lower() == "application/x-ndjson"
