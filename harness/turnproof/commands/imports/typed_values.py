"""Data of somebody's file as typed values; what does not fit is refused with its place."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from ...errors import UsageError

T = TypeVar("T")


def typed(data: Any, kind: type[T], file: str) -> T:
    """Parsed JSON or YAML as this type. Raises UsageError with the file and the JSON path of what does not fit."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"{file}: {error}") from error
