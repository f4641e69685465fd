"""Modules and names at an address that they had before: what to import instead, for one release.

An import of an old address raises ImportError with the new one. What suites of others import keeps working, with a
DeprecationWarning. `python -m turnproof._base.moved PATH...` rewrites the imports of files and folders.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from re import Match
    from types import ModuleType
    from typing import NoReturn

# Every process that imports turnproof imports this, so that what only a moved module needs is imported for it alone.

FOR_SUITES = (
    "turnproof.finding",
    "turnproof.requirements",
    "turnproof.transcript",
    "turnproof.verdict",
    "turnproof.view",
)
"""Old addresses that suites of others import: they lead to the new ones until the next release."""

STAYED = ("turnproof.certify", "turnproof.certify.fixtures", "turnproof.compare", "turnproof.inventory")
"""Public addresses of which only what stands behind them has moved."""

NAMES = {"turnproof.dialects.base": dict.fromkeys(("Dialect", "PrefixCache"), "turnproof.dialects.contract")}
"""Public names that stand in another module now, by the module in which they stood."""

_ADVICE = "`python -m turnproof._base.moved PATH` rewrites imports"

_table: dict[str, str] = {}


def new_address(old: str) -> str | None:
    """The address of a module now, by the one that it had; None for one that did not move."""
    if old in STAYED:
        return None
    if not _table:
        from importlib.resources import files

        lines = (files(__package__) / "moved.txt").read_text("utf-8").splitlines()
        _table.update((old, new) for old, _, new in (line.partition(" ") for line in lines) if old != "#")
    steps = old.split(".")
    for length in range(len(steps), 1, -1):
        if (found := _table.get(".".join(steps[:length]))) is not None:
            return ".".join([found, *steps[length:]])
    return None


class _Finder:
    """A finder of modules that is asked last, when no other one knows a name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("turnproof.") or (new := new_address(fullname)) is None:
            return None
        if not fullname.startswith(FOR_SUITES):
            raise ImportError(f"{fullname} is {new} now; {_ADVICE}", name=fullname)
        import warnings
        from importlib.machinery import ModuleSpec

        warnings.warn(f"{fullname} is {new} now", DeprecationWarning, stacklevel=2)
        return ModuleSpec(fullname, _SameModule(new), is_package=True)  # type: ignore[arg-type]


class _SameModule:
    """A loader that gives the module at its new address."""

    def __init__(self, address: str) -> None:
        from importlib import import_module

        self._module = import_module(address)
        self._spec = self._module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has put that of the old address there


def look_for_moved_modules() -> None:
    """Have imports of old addresses say what the new ones are. Calling it twice is harmless."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def refuse_moved_name(module: str, name: str) -> NoReturn:
    """What a module's `__getattr__` does for a name that it does not have.

    Raises ImportError with the new address of a name that has moved, and AttributeError for any other.
    """
    if (new := NAMES.get(module, {}).get(name)) is not None:
        raise ImportError(f"{module}.{name} is {new}.{name} now; {_ADVICE}", name=module)
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def rewritten(source: str) -> str:
    """Python source with the new addresses in its imports."""
    import re

    statement = re.compile(r"^(\s*(?:from|import)\s+)(turnproof(?:\.\w+)+)", re.MULTILINE)
    source = statement.sub(lambda match: match[1] + (new_address(match[2]) or match[2]), source)
    names = re.compile(r"^([ \t]*)from[ \t]+(turnproof(?:\.\w+)+)[ \t]+import[ \t]+(\([^()]*\)|[^\n(#]*)", re.MULTILINE)
    return names.sub(_split_import, source)


def _split_import(statement: Match[str]) -> str:
    """An import of names as it was, or one for each module in which its names stand now."""
    indent, module, names = statement.groups()
    moved = NAMES.get(module, {})
    by_module: dict[str, list[str]] = {}
    for name in filter(None, (each.strip() for each in names.strip("()").split(","))):
        by_module.setdefault(moved.get(name.split()[0], module), []).append(name)
    if list(by_module) == [module] or "#" in names:  # what a comment is about cannot be known
        return statement[0]
    return "\n".join(f"{indent}from {new} import {', '.join(its_names)}" for new, its_names in by_module.items())


def main(paths: Sequence[str]) -> int:
    """Rewrite the Python files at these paths, and below them. Prints each file that was changed."""
    from pathlib import Path

    if not paths:
        print("usage: python -m turnproof._base.moved PATH...", file=sys.stderr)
        return 2
    for path in map(Path, paths):
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            source = file.read_text("utf-8")
            if (new := rewritten(source)) != source:
                file.write_text(new, "utf-8")
                print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
