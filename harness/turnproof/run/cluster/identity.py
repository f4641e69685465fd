"""What a machine has of all that runs depend on, and how two machines differ in it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from pathlib import Path

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from ... import __version__
from ...subject import Subject
from ..driver.ownership import own_modules
from ..sources import sources_digest
from ..tracebacks import package_of


class Needs(msgspec.Struct, frozen=True):
    """What runs depend on, by name: packages whose sources count, distributions, and folders of cassettes."""

    sources: tuple[str, ...]
    distributions: tuple[str, ...]
    folders: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, subjects: Iterable[Subject], *, replayed: bool, folders: Iterable[Path], mutants: Iterable[str]
    ) -> Needs:
        """What the runs of these subjects depend on: turnproof, the suites, the subjects' own code, what they need."""
        found = list(subjects)
        sources = {"turnproof", *(entry.value for entry in entry_points(group="turnproof.suites"))}
        if replayed:
            sources |= {entry.value for entry in entry_points(group="turnproof.cassettes")}
        sources |= {package_of(module) for subject in found for module in own_modules(subject)}
        sources |= {package_of(one.partition(":")[0]) for name in mutants for one in name.split("+") if ":" in one}
        named = {"turnproof", *(package for subject in found for package in subject.packages)}
        return cls(tuple(sorted(sources)), tuple(sorted(_with_requirements(named))), tuple(map(str, folders)))


class Identity(msgspec.Struct, frozen=True):
    """What a machine has of it: versions, and digests of sources and folders."""

    python: str
    turnproof: str
    distributions: dict[str, str]
    sources: dict[str, str]
    folders: dict[str, str] = {}

    @classmethod
    def here(cls, needs: Needs) -> Identity:
        """What this machine has. What is missing counts as such."""
        return cls(
            python=f"{platform.python_implementation()} {platform.python_version()}",
            turnproof=__version__,
            distributions={name: _version(name) for name in needs.distributions},
            sources={name: sources_digest([name]) for name in needs.sources},
            folders={name: _digest(Path(name)) for name in needs.folders},
        )


def differences(ours: Identity, theirs: Identity) -> Iterator[str]:
    """What differs, a line each, with both sides."""
    if ours.python != theirs.python:
        yield f"Python is {ours.python} here and {theirs.python} there"
    if ours.turnproof != theirs.turnproof:
        yield f"turnproof is {ours.turnproof} here and {theirs.turnproof} there"
    yield from _unequal("", ours.distributions, theirs.distributions)
    yield from _unequal("the sources of ", ours.sources, theirs.sources)
    yield from _unequal("the folder ", ours.folders, theirs.folders)


def _unequal(what: str, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Iterator[str]:
    for name, one in ours.items():
        other = theirs.get(name, "not there")
        if one != other:
            yield f"{what}{name}: {one[:12] or 'empty'} here and {other[:12] or 'empty'} there"


def _version(name: str) -> str:
    try:
        return distribution(name).version
    except PackageNotFoundError:
        return "not installed"


def _with_requirements(names: Iterable[str]) -> set[str]:
    """These distributions and all that they require, as far as they are installed."""
    found: set[str] = set()
    waiting = [Requirement(name) for name in names]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        seen.add((name, extras))
        found.add(name)
        waiting += _required(name, extras)
    return found


def _required(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    try:
        lines = distribution(name).requires or ()
    except PackageNotFoundError:
        return
    for line in lines:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            yield requirement


def _digest(folder: Path) -> str:
    if not folder.is_dir():
        return "not there"
    found = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{file.relative_to(folder).as_posix()} ".encode())
        found.update(hashlib.sha256(file.read_bytes()).digest())
    return found.hexdigest()
