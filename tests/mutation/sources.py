"""The modules of a package as they stood at one moment, one of them changed at will.

A run of thousands of mutants outlasts many an edit. So all of them are imported from one snapshot, and not from the
disk.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its file, and its code."""

    path: Path
    code: CodeType


class Snapshot(MetaPathFinder, Loader):
    """All modules of a package that stands in `folder`. Once installed, it is what they are imported from."""

    def __init__(self, package: str, folder: Path) -> None:
        self._package = package
        self._folder = folder
        self._modules: dict[str, Module] = {}
        for path in sorted(folder.rglob("*.py")):
            self._modules[self.module_name(path)] = Module(path, _compiled(path.read_text("utf-8"), path))

    @property
    def files(self) -> Mapping[str, str]:
        """Module names by file, as coverage spells it."""
        return {str(module.path): name for name, module in self._modules.items()}

    def module_name(self, path: Path) -> str:
        """The dotted name of the module in that file."""
        parts = path.relative_to(self._folder).with_suffix("").parts
        return ".".join([self._package, *(part for part in parts if part != "__init__")])

    def install(self) -> None:
        """Come before every other finder, and have what is imported already be imported anew. For a fork: whatever
        holds on to a module from before keeps that one."""
        for name in [name for name in sys.modules if name == self._package or name.startswith(f"{self._package}.")]:
            del sys.modules[name]
        sys.meta_path.insert(0, self)

    def change(self, name: str, source: str) -> None:
        """Have that module be imported with another source."""
        path = self._modules[name].path
        self._modules[name] = Module(path, _compiled(source, path))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = self._modules.get(fullname)
        if found is None:
            return None
        inside = [str(found.path.parent)] if found.path.name == "__init__.py" else None
        return spec_from_file_location(fullname, found.path, loader=self, submodule_search_locations=inside)

    def exec_module(self, module: ModuleType) -> None:
        exec(self._modules[module.__name__].code, module.__dict__)


def _compiled(source: str, path: Path) -> CodeType:
    return compile(source, str(path), "exec", dont_inherit=True)
