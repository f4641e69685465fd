"""Rows of data by name: what a class of the suite is declared with."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from turnproof.errors import CatalogueError


class Named(Protocol):
    """A row that has a name."""

    @property
    def name(self) -> str: ...


Row = TypeVar("Row", bound=Named)


def read_rows(file: Path, table: str, kind: type[Row]) -> dict[str, Row]:
    """The rows of a table by name. Raises CatalogueError for an unknown key or value, and for a name used twice."""
    try:
        data = tomllib.loads(file.read_text("utf-8"))
        rows: tuple[Row, ...] = msgspec.convert(data, dict[str, tuple[kind, ...]])[table]  # type: ignore[valid-type]
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{file}: {error}") from error
    by_name = {row.name: row for row in rows}
    if len(by_name) < len(rows):
        twice = next(name for name, count in Counter(row.name for row in rows).items() if count > 1)
        raise CatalogueError(f"{file}: two {table}s are named {twice!r}")
    return by_name


def row_of(rows: Mapping[str, Row], name: str, file: Path, table: str) -> Row:
    """The row that a class names. Raises CatalogueError without one."""
    row = rows.get(name)
    if row is None:
        advice = f'add a [[{table}]] with name = "{name}", or correct the name at the class'
        raise CatalogueError(f"{file}: no {table} is named {name!r}, and a class says so: {advice}")
    return row
