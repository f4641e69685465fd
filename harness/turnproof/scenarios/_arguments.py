"""Arguments of a call: the JSON object they are, and the pieces that must add up to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from ..dialects.base import ReplyPart
from ..messages import JSON, FunctionCall
from ._located_value import LocatedValue


def call_arguments(spot: LocatedValue, pieces: tuple[str, ...], spoiled: str | None) -> dict[str, JSON]:
    """The arguments of a call, which must be what its pieces add up to.

    Of a `spoiled` call (broken off, or malformed) the pieces are no JSON; `args` may say which members were whole.
    """
    args_spot = spot.get("args")
    args = args_spot.json_object("arguments by name") if args_spot else None
    if not pieces:
        if spoiled:
            spot.refuse(f"a {spoiled} call needs 'pieces': what there is of its arguments")
        return args or {}
    joined = "".join(pieces)
    try:
        sum_of_pieces = read_arguments(pieces)
    except (ValueError, RecursionError) as error:
        if spoiled:
            return args or {}
        spot.at("pieces").refuse(f"add up to {joined!r:.200}, which is not JSON: {error}")
    if spoiled:
        spot.at("pieces").refuse(f"add up to whole arguments, but the call is {spoiled}")
    if not isinstance(sum_of_pieces, dict):
        spot.at("pieces").refuse(f"add up to {joined!r}; arguments are an object")
    if args is not None and _canonical(args) != _canonical(sum_of_pieces):
        spot.at("pieces").refuse(f"add up to {joined!r}, but 'args' say {_canonical(args)}")
    return spot.at("pieces").with_value(sum_of_pieces).json_object()


def read_arguments(pieces: tuple[str, ...]) -> JSON:
    """What the pieces of a call add up to. Raises ValueError where that is not JSON; no pieces are no arguments."""
    joined = "".join(pieces)
    arguments = json.loads(joined, parse_constant=_no_number) if joined else {}
    _canonical(arguments).encode()
    return arguments


def is_malformed(part: ReplyPart) -> bool:
    """Whether this is a call that ends as if it were whole, though its pieces are no JSON object."""
    if not isinstance(part.part, FunctionCall) or part.broken:
        return False
    try:
        return not isinstance(read_arguments(part.pieces), dict)
    except (ValueError, RecursionError):
        return True


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


_canonical: Callable[[Any], str] = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode
