"""Arguments in pieces, as a stream of this API delivers them.

They are cut inside `\\uXXXX` escapes and between the halves of surrogate pairs: a client that takes a piece for more
than a run of characters does not survive this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from ..cutting import cut, steps

_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")


def arguments_json(args: Mapping[str, Any], *, escaped: bool) -> str:
    """Arguments as the model writes them: spaces after separators; non-ASCII raw, or as escapes."""
    return json.dumps(args, ensure_ascii=escaped)


def cut_arguments(text: str, draw: int) -> tuple[str, ...]:
    """Argument JSON in pieces; besides the regular cuts, one within each escape."""
    inside = {match.start() + 1 + (draw + n) % 5 for n, match in enumerate(_ESCAPE.finditer(text))}
    return cut(text, sorted(inside | set(steps(len(text), draw))))


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
