"""What code takes part in a run, as one digest of each package: a run is made anew where any of it has changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_SUFFIXES = (".py", ".toml", ".yaml", ".json")


def sources_digest(packages: Iterable[str]) -> str:
    """One digest of the source files of these packages or modules. One that cannot be found counts by its name."""
    found = hashlib.sha256()
    for name in sorted(set(packages)):
        found.update(f"{name} {_digest(name)}\n".encode())
    return found.hexdigest()


@cache
def _digest(package: str) -> str:
    digest = hashlib.sha256()
    for name, file in _files(package):
        digest.update(f"{name} ".encode())
        digest.update(hashlib.sha256(Path(file).read_bytes()).digest())
    return digest.hexdigest()


def _files(package: str) -> Iterator[tuple[str, str]]:
    """The names of the source files, from the package's folder on, and where they are. There are thousands, so that
    this goes by strings."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    for root in spec.submodule_search_locations or ():
        for folder, folders, names in os.walk(root):
            folders.sort()
            for file in (f"{folder}/{name}" for name in sorted(names) if name.endswith(_SUFFIXES)):
                if Path(file).is_file():
                    yield file.removeprefix(f"{root}/"), file
    if not spec.submodule_search_locations and spec.origin and Path(spec.origin).is_file():
        yield Path(spec.origin).name, spec.origin
