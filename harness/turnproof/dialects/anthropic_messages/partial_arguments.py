"""Arguments that a stream broke off, as a batch answer of this API has them."""

from __future__ import annotations

from typing import Any

import msgspec


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
