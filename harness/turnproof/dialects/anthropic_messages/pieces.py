"""Where a stream cuts: deterministic, and awkward on purpose.

Arguments are cut inside `\\uXXXX` escapes and between the halves of surrogate pairs, text between the code points
of one visible character. A client that treats a piece as more than a run of characters does not survive this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import msgspec

_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_SIZES = (5, 11, 3, 17, 8, 2, 13)


def arguments_json(args: Mapping[str, Any], *, escaped: bool) -> str:
    """Arguments as the model writes them: spaces after separators; non-ASCII raw, or as escapes."""
    return json.dumps(args, ensure_ascii=escaped)


def cut_text(text: str, draw: int) -> tuple[str, ...]:
    """A text in pieces of varying length; joined, they are the text. No pieces for the empty text."""
    return _cut(text, _steps(len(text), draw))


def cut_arguments(text: str, draw: int) -> tuple[str, ...]:
    """Argument JSON in pieces; besides the regular cuts, one within each escape."""
    inside = {match.start() + 1 + (draw + n) % 5 for n, match in enumerate(_ESCAPE.finditer(text))}
    return _cut(text, sorted(inside | set(_steps(len(text), draw))))


def _steps(length: int, draw: int) -> list[int]:
    at, n, cuts = 0, draw % len(_SIZES), []
    while (at := at + _SIZES[n % len(_SIZES)]) < length:
        cuts.append(at)
        n += 1
    return cuts


def _cut(text: str, cuts: list[int]) -> tuple[str, ...]:
    edges = [0, *cuts, len(text)]
    return tuple(text[a:b] for a, b in pairwise(edges) if a < b)


def completed_members(text: str) -> dict[str, Any]:
    """The top-level members of a JSON object that are complete in a text that may break off anywhere."""
    depth, in_string, skip, ends = 0, False, False, [0]
    for at, character in enumerate(text):
        if skip:
            skip = False
        elif in_string:
            skip = character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                ends.append(at)
        elif character == "," and depth == 1:
            ends.append(at)
    whole = text[: ends[-1]] + "}" if ends[-1] else "{}"
    try:
        members = msgspec.json.decode(whole)
    except msgspec.DecodeError:
        return {}
    return members if isinstance(members, dict) else {}
