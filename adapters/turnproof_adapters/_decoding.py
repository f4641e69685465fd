"""JSON of a service as typed data, with what a strict decoder does not read and a service may still send."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def decode_json(decoder: msgspec.json.Decoder[_T], data: bytes) -> _T:
    """The data as the decoder's type. Raises ValueError for what is none, RecursionError for one that is nested too
    deeply."""
    try:
        return decoder.decode(data)
    except msgspec.DecodeError:
        if _HALF.search(data) is None:
            raise
    # Half of a surrogate pair, which msgspec does not read.
    kind: Any = decoder.type  # a `type` to msgspec before 0.23, and a `TypeForm` since
    found: _T = convert_to(json.loads(data, parse_constant=_no_number), kind)
    return found


def decode_arguments(text: str) -> Any:
    """The arguments of a call. Raises ValueError for what is no JSON, or is nested too deeply to be read."""
    try:
        return msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None


def convert_to(plain: object, kind: type[_T]) -> _T:
    """Plain data as a type of our own. Raises ValueError for what is none."""
    try:
        return msgspec.convert(plain, kind)
    except UnicodeEncodeError:
        # What msgspec makes of half of a surrogate pair where an object belongs: it must not pass for one of ours.
        raise ValueError(f"not a {kind.__name__.lower()}: text that is not valid Unicode") from None


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")
