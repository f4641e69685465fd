"""The tables in a dialect's package that are data: the differences that it allows, and its usual errors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import TypeAlias, TypeVar

import msgspec

from ..errors import HarnessError
from .base import AllowedDifference

T = TypeVar("T")

ErrorKinds: TypeAlias = Mapping[int, tuple[str, str]]
"""The kind and the usual message of an error, by status."""


class _Allowed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    difference: tuple[AllowedDifference, ...]


def load_allowed(package: str | None) -> tuple[AllowedDifference, ...]:
    """`allowed.toml`: what may differ between a session's conversation and a request, in the order of the file."""
    return _read(package, "allowed.toml", _Allowed).difference


def load_errors(package: str | None) -> Mapping[str, ErrorKinds]:
    """`errors.toml`: the error kinds of each surface, by its name."""
    return _read(package, "errors.toml", dict[str, ErrorKinds])


def _read(package: str | None, name: str, shape: type[T]) -> T:
    """A table of the package. Raises HarnessError, with the file and the place, for one that has another shape."""
    file = resources.files(package or "").joinpath(name)
    try:
        return msgspec.convert(tomllib.loads(file.read_text("utf-8")), shape, str_keys=True)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise HarnessError(f"{file}: {error}") from error
