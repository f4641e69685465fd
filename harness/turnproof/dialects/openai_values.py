"""What OpenAI's two APIs say to a value of another type, beyond its range, or that is no image."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..messages import JSON
from .base64_text import decode_base64

_TYPES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a decimal"),
    (str, "a string"),
    (list, "an array"),
    (dict, "an object"),
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_EXPECTED_IMAGE = (
    "Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=')"
)


class Limits(NamedTuple):
    """What a number may be. `kind` is `integer` or `decimal`; a limit that is None does not exist."""

    kind: str
    least: float | None = None
    most: float | None = None


class Fault(NamedTuple):
    """What is wrong with a value: the error's code, its message, and the path of the value."""

    code: str
    message: str
    path: str


def type_name(value: JSON) -> str:
    """A JSON type in the words of the service."""
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "null")


def wrong_type(path: str, expected: str, value: JSON) -> Fault:
    """A value of another type. `expected` has its article."""
    message = f"Invalid type for '{path}': expected {expected}, but got {type_name(value)} instead."
    return Fault("invalid_type", message, path)


def type_faults(body: Mapping[str, Any], expected: Mapping[str, tuple[tuple[type, ...], str]]) -> Iterator[Fault]:
    """The values of a body that have none of the types expected of their fields. One that is null was not given."""
    for name, (kinds, words) in expected.items():
        value = body.get(name)
        if value is not None and (not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)):
            yield wrong_type(name, words, value)


def range_faults(body: Mapping[str, Any], limits: Mapping[str, Limits]) -> Iterator[Fault]:
    """The numbers of a body that are beyond their limits. What is no number is left to the types."""
    for name, (kind, least, most) in limits.items():
        value = body.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if least is not None and value < least:
            yield _beyond(name, kind, "below minimum", ">=", least, value)
        elif most is not None and value > most:
            yield _beyond(name, kind, "above maximum", "<=", most, value)


def _beyond(path: str, kind: str, side: str, sign: str, limit: float, value: float) -> Fault:
    value_text = f"{value:g}" if isinstance(value, float) else str(value)
    message = f"Invalid '{path}': {kind} {side} value. Expected a value {sign} {limit:g}, but got {value_text} instead."
    return Fault(f"{kind}_{'below_min' if side.startswith('below') else 'above_max'}_value", message, path)


def wrong_choice(path: str, value: JSON, choices: tuple[str, ...]) -> Fault:
    """A word that is none of those that the service takes."""
    *others, last = (f"'{choice}'" for choice in choices)
    supported = f"{', '.join(others)}, and {last}" if len(others) > 1 else " and ".join([*others, last])
    return Fault("invalid_value", f"Invalid value: '{value}'. Supported values are: {supported}.", path)


def image_fault(url: JSON, *, names_types: bool = False) -> str | None:
    """Why an address shows no image, in the words of the service behind "Expected a …"; None where it may show one.

    With `names_types` the media type has to be one of an image. What an address with another scheme shows, and bytes of
    what is no image, are left alone.
    """
    if not isinstance(url, str):
        return None
    if not url.startswith("data:"):
        problem = None if _SCHEME.match(url) else "a value without the 'data:' prefix"
    else:
        head, _, data = url[5:].partition(",")
        if not head.endswith(";base64"):
            return None
        kind = head.partition(";")[0]
        if names_types and not kind.startswith("image/"):
            return f"{_EXPECTED_IMAGE}, but got unsupported MIME type '{kind}'."
        content = decode_base64("".join(data.split()))
        problem = (
            "an invalid base64-encoded value" if content is None else None if content else "empty base64-encoded bytes"
        )
    return None if problem is None else f"{_EXPECTED_IMAGE}, but got {problem}."
