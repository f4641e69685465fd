"""What code takes part in a run, as one digest of each package: a run is made anew where any of it has changed."""

from __future__ import annotations

import hashlib
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
    for root, file in _files(package):
        digest.update(f"{file.relative_to(root).as_posix()} ".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _files(package: str) -> Iterator[tuple[Path, Path]]:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    for place in spec.submodule_search_locations or ():
        root = Path(place)
        yield from ((root, file) for file in sorted(root.rglob("*")) if file.suffix in _SUFFIXES and file.is_file())
    if not spec.submodule_search_locations and spec.origin and Path(spec.origin).is_file():
        yield Path(spec.origin).parent, Path(spec.origin)
