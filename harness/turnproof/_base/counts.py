"""How many of something there are, in words."""

from __future__ import annotations

import re


def counted(number: float, what: str) -> str:
    """`1 message`, `3 messages`, `0 more entries`: `what` is the singular, of which the last word gets its plural."""
    return f"{number:g} {what}" if number == 1 else f"{_number_text(number)} {_plural(what)}"


def _number_text(number: float) -> str:
    return str(number) if isinstance(number, int) else f"{number:g}"


def _plural(what: str) -> str:
    if re.search("[^aeiou]y$", what):
        return f"{what[:-1]}ies"
    return f"{what}es" if re.search("(s|x|ch|sh)$", what) else f"{what}s"
