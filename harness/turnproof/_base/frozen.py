"""JSON that cannot change: what a message holds besides its words, frozen when it is put there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn, TypeAlias

from ..errors import PayloadError

JSON: TypeAlias = Any
"""A JSON value: None, bool, int, finite float, str, list, or dict with string keys."""


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is frozen: build a new message instead of changing this one")


class FrozenDict(dict[str, Any]):
    """A JSON object that refuses changes; equal to a plain dict of the same content."""

    __slots__ = ()

    __setitem__ = __delitem__ = update = clear = _refuse
    pop = popitem = setdefault = __ior__ = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


class FrozenList(list[Any]):
    """A JSON array that refuses changes; equal to a plain list of the same content."""

    __slots__ = ()

    __setitem__ = __delitem__ = append = extend = insert = _refuse
    pop = remove = clear = sort = reverse = __iadd__ = __imul__ = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[type[FrozenList], tuple[list[Any]]]:
        return FrozenList, (list(self),)


MAX_DEPTH: Final = 100
"""How deep a payload may be nested. Protobuf's reader of JSON, behind some of the APIs, goes no deeper."""

MAX_BITS: Final = 8192
"""How long a whole number may be: Python writes, and reads, none with more than 4,300 digits."""


def freeze(value: object, path: str = "$") -> JSON:
    """A deep-frozen copy of a JSON value. Raises PayloadError with the path of anything that is not JSON.

    Subclasses of str, int and float become what they stand for; nesting ends at MAX_DEPTH, whole numbers at MAX_BITS.
    """
    if isinstance(value, FrozenDict | FrozenList):
        return value
    try:
        return _frozen(value, MAX_DEPTH)
    except _NotJSONError as error:
        where, reason = path + "".join(reversed(error.steps)), error.reason
    raise PayloadError(where if len(where) <= _LONGEST_PATH else f"{where[:_LONGEST_PATH]}...", reason)


_LONGEST_PATH: Final = 200


class _NotJSONError(Exception):
    """`steps` lead to the spot, the last one first: a path for every value would cost more than the copy."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.steps: list[str] = []


def _frozen(value: object, depth: int) -> JSON:
    match value:
        case None | bool():
            return value
        case str():
            return _plain(value)
        case int():
            if value.bit_length() > MAX_BITS:
                raise _NotJSONError(f"a number of {value.bit_length()} bits is longer than JSON is read with")
            return int(value)
        case float():
            if value != value or value in (float("inf"), float("-inf")):
                raise _NotJSONError(f"{value!r} is not a JSON number")
            return float(value)
        case list() | tuple():
            return FrozenList([_member(item, depth, n) for n, item in enumerate(value)])
        case Mapping():
            frozen = {}
            for key, item in value.items():
                if not isinstance(key, str):
                    raise _NotJSONError(f"object keys must be strings, got {shown(key)}")
                frozen[_plain(key)] = _member(item, depth, key)
            return FrozenDict(frozen)
        case _:
            raise _NotJSONError(f"{type(value).__name__} is not a JSON value: {shown(value)}")


def _member(value: object, depth: int, step: str | int) -> JSON:
    if depth == 0:
        raise _NotJSONError(f"nested deeper than {MAX_DEPTH} levels")
    try:
        return _frozen(value, depth - 1)
    except _NotJSONError as error:
        error.steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
        raise


def _plain(text: str) -> str:
    # Searched, not encoded: a result of many megabytes is not copied for it.
    if not text.isascii() and _SURROGATE.search(text):
        raise _NotJSONError(f"{shown(text)} holds a lone surrogate, which JSON cannot carry")
    return str.__str__(text)


def shown(value: object, width: int = 80) -> str:
    """A value in a message, shortened: of a long text only what is shown is spelled out."""
    text = repr(value[: width + 1]) if isinstance(value, str | bytes) else repr(value)
    return text if len(text) <= width else f"{text[:width]}..."


_SURROGATE = re.compile("[\ud800-\udfff]")


def thaw(value: JSON) -> JSON:
    """A plain, changeable copy of a frozen JSON value."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) for item in value]
    return value
