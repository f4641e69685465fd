"""Whose code a frame runs, and how its file is named in evidence.

A subject's own code is told by its packages, wherever they are installed, and by what is neither installed, nor of
Python, nor ours: the project itself. Files are named relative to the place that they were found in, so that evidence
carries no home folder and two checkouts say the same.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from ..project_folder import project_folder
from .model import Frame, Owner, Root

_OURS = frozenset({"turnproof", "turnproof_suites", "turnproof_cassettes"})
_ADAPTERS = "turnproof_adapters"
"""The reference adapters: subjects like any other, and libraries to somebody who imports them."""

_INSTALLED = ("site-packages", "dist-packages")


class Place(NamedTuple):
    """A file, and what it is relative to."""

    root: Root
    file: str


class Source(NamedTuple):
    """Where a class begins: its first line."""

    file: str
    line: int
    text: str


def package_of(module: str) -> str:
    """The package that a module belongs to: the first one above it, or itself, that is a file and no namespace.

    In `turnproof` it is the package below that one: a reference session or a control is a subject, and not all of it.
    """
    parts = module.split(".")
    if parts[0] == "turnproof":
        return ".".join(parts[:2])
    for count in range(1, len(parts)):
        name = ".".join(parts[:count])
        if getattr(sys.modules.get(name), "__file__", None):
            return name
    return module


class Owners:
    """Tells the owner of a frame. `own` are the subject's packages, `imported` those of others that it is known to use.

    Paths are taken relative to the project's folder of the moment when this is made.
    """

    def __init__(self, own: Iterable[str] = (), imported: Iterable[str] = ()) -> None:
        self._own = set(own)
        self._imported = frozenset(imported)
        self._folder = project_folder()

    def add(self, value: object) -> None:
        """Count the class of this object as the subject's own, with its package, unless it is ours or Python's."""
        module = getattr(type(value), "__module__", None)
        if isinstance(module, str) and _top(module) not in (_OURS | sys.stdlib_module_names):
            self._own.add(package_of(module))

    def owner(self, module: str, file: str) -> Owner:
        """Whose code it is. `file` is where its module lies, for code that is in no file."""
        if any(module == name or module.startswith(f"{name}.") for name in self._own):
            return "subject"
        top, place = _top(module), self.place(file)
        if top in _OURS:
            return "turnproof"
        if place.root == "site-packages":
            return "sdk"
        if place.root == "stdlib" or (not _is_file(file) and top in (sys.stdlib_module_names - {"__main__"}) | {""}):
            return "library"
        if top == _ADAPTERS or any(module == name or module.startswith(f"{name}.") for name in self._imported):
            return "sdk"
        return "subject"

    def definition(self, cls: type) -> Frame | None:
        """Where a class is defined; None for one whose source cannot be had."""
        source = _source_of(cls)
        if source is None:
            return None
        place = self.place(source.file)
        return Frame(
            file=place.file,
            line=source.line,
            function=cls.__qualname__,
            owner=self.owner(cls.__module__, source.file),
            source=source.text,
            module=cls.__module__,
            root=place.root,
        )

    def place(self, file: str) -> Place:
        """The file as evidence names it."""
        return _place(file, self._folder, tuple(sys.path))


def _source_of(cls: type) -> Source | None:
    """The first line of a class, looked up once: `inspect` parses the whole module for it.

    Classes are compared by identity, because a metaclass may define another equality.
    """
    found = _sources.get(id(cls))
    if found is not None and found[0] is cls:
        return found[1]
    try:
        file = inspect.getsourcefile(cls)
        lines, number = inspect.getsourcelines(cls)
        source = None if file is None else Source(file, number, lines[0].strip()[:200])
    except (OSError, TypeError):
        source = None
    if len(_sources) >= _MOST_SOURCES:  # an adapter may make a class for each run
        _sources.clear()
    _sources[id(cls)] = cls, source
    return source


_MOST_SOURCES = 64
_sources: dict[int, tuple[type, Source | None]] = {}


@lru_cache(maxsize=4096)
def _place(file: str, folder: str, import_path: tuple[str, ...]) -> Place:
    if not _is_file(file):
        return Place("none", file)
    windows = PureWindowsPath(file)
    if windows.drive and os.name != "nt":  # compiled on another machine
        return Place("none", windows.name)
    ways = _ways(Path(folder, file))
    for way in ways:
        marks = [index for index, part in enumerate(way.parts) if part in _INSTALLED]
        if marks:
            return Place("site-packages", "/".join(way.parts[marks[-1] + 1 :]))
    for root, base in _roots(folder, import_path):
        for way in ways:
            if way.is_relative_to(base):
                return Place(root, way.relative_to(base).as_posix())
    return Place("none", Path(file).name)


@lru_cache(maxsize=8)
def _roots(folder: str, import_path: tuple[str, ...]) -> tuple[tuple[Root, Path], ...]:
    """The folders that files may be relative to, in the order in which they are tried."""
    named: list[tuple[Root, str]] = [("stdlib", sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    named += [("site-packages", sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    named += [("project", folder)]
    # The innermost first: `src` of a project somewhere else, rather than that project.
    named += [("import-path", one) for one in sorted(import_path, key=len, reverse=True)]
    found = [(root, way) for root, one in named for way in _ways(Path(folder, one))]
    # What is relative to the root of the file system alone is not relative to anything.
    return tuple((root, way) for root, way in found if way != Path(way.anchor))


def _ways(path: Path) -> tuple[Path, ...]:
    """The path as it is written, and with links followed: a file may be known by either."""
    try:
        return Path(os.path.normpath(path)), path.resolve()
    except (OSError, ValueError, RuntimeError):  # no name of a file, or links that lead back to themselves
        return (path,)


def _is_file(file: str) -> bool:
    return bool(file) and not (file.startswith("<") and file.endswith(">"))


def _top(module: str) -> str:
    return module.partition(".")[0]
