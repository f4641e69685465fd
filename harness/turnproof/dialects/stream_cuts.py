"""Where a stream cuts a text, or the arguments of a call, and what is complete in arguments that break off.

Cuts are deterministic, and awkward on purpose.

A cut may fall between the code points of one visible character, inside a `\\uXXXX` escape of argument JSON, and between
the halves of a surrogate pair. A client that treats a piece as more than a run of characters does not survive this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from ..messages import FunctionCall
from .base import ReplyPart

_SIZES = (5, 11, 3, 17, 8, 2, 13)


def cut_text(text: str, draw: int) -> tuple[str, ...]:
    """A text in pieces of varying length; joined, they are the text. No pieces for the empty text."""
    return cut(text, steps(len(text), draw))


def steps(length: int, draw: int) -> list[int]:
    """Places to cut something of that length, ascending, without its two ends."""
    at, n, cuts = 0, draw % len(_SIZES), []
    while (at := at + _SIZES[n % len(_SIZES)]) < length:
        cuts.append(at)
        n += 1
    return cuts


def cut(text: str, cuts: Sequence[int]) -> tuple[str, ...]:
    """The pieces between ascending cuts, without empty ones."""
    edges = [0, *cuts, len(text)]
    return tuple(text[a:b] for a, b in pairwise(edges) if a < b)


_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")


def arguments_json(args: Mapping[str, Any], *, escaped: bool) -> str:
    """Arguments as the model writes them: spaces after separators; non-ASCII raw, or as escapes."""
    return json.dumps(args, ensure_ascii=escaped)


def cut_arguments(text: str, draw: int) -> tuple[str, ...]:
    """Argument JSON in pieces; besides the regular cuts, one within each escape."""
    inside = {match.start() + 1 + (draw + n) % 5 for n, match in enumerate(_ESCAPE.finditer(text))}
    return cut(text, sorted(inside | set(steps(len(text), draw))))


def call_pieces(reply_part: ReplyPart, draw: int) -> tuple[str, ...]:
    """The argument JSON of a scripted call in pieces, none where it has no arguments; a broken call ends too soon."""
    assert isinstance(reply_part.part, FunctionCall)
    if not reply_part.part.args:
        return ()
    text = arguments_json(reply_part.part.args, escaped=bool(draw & 1))
    if reply_part.broken:
        text = text[: max(1, len(text) * 2 // 3)]
    return cut_arguments(text, draw)


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
