"""Dates, counts and lists as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from markupsafe import Markup, escape

from .._inline_text import printable

_PATH = re.compile(r"\$(?:\.[\w#/-]+|\[\d+\])+")


def day(moment: str) -> str:
    """The day of an ISO 8601 moment, in UTC: `22 November 2026`. What is no moment stays as it is."""
    found = _moment(moment)
    return f"{found.day} {found:%B %Y}" if found else moment


def minute(moment: str) -> str:
    """The day and the minute, in UTC: `22 November 2026, 10:05 UTC`. What is no moment stays as it is."""
    found = _moment(moment)
    return f"{found.day} {found:%B %Y, %H:%M} UTC" if found else moment


def join_words(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def with_paths(text: str) -> Markup:
    """A message with the JSON paths in it set apart, everything in it escaped and printable."""
    found = Markup()
    end = 0
    for match in _PATH.finditer(text):
        found += (
            escape(printable(text[end : match.start()]))
            + Markup("<code>")
            + escape(printable(match[0]))
            + Markup("</code>")
        )
        end = match.end()
    return found + escape(printable(text[end:]))


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None
