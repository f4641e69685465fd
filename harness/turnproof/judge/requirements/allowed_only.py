"""Scenarios in which the service does what its API allows, and what no service is known to do today.

A suite lists them in `allowed_only.toml`, each with its reason. The list is not part of the scenarios: it is about
services, and changes when they do.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import msgspec

from ...errors import CatalogueError

ALLOWED_ONLY_FILE: Final = "allowed_only.toml"


class AllowedOnly(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One scenario, and why no service is thought to do that; `dialects` are the wire APIs of which it is known, none
    for all."""

    name: str
    reason: str
    dialects: tuple[str, ...] = ()

    def speaks_of(self, dialect: str) -> bool:
        """Whether it is known of this wire API."""
        return not self.dialects or dialect in self.dialects


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    scenario: tuple[AllowedOnly, ...] = ()


def load_allowed_only(folder: Path) -> tuple[AllowedOnly, ...]:
    """The list of the suite in this folder, empty for one that has none. Raises CatalogueError with file and reason."""
    path = folder / ALLOWED_ONLY_FILE
    if not path.exists():
        return ()
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).scenario
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{path}: {error}") from error
    for one in found:
        if not one.reason.strip():
            raise CatalogueError(f"{path}: scenario {one.name!r} has no reason")
    return found
