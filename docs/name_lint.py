"""Finds names of values and functions that say nothing of what they name, such as `said`, and says which to look at.

`python docs/name_lint.py` reads the Python files that `[names]` of `vocabulary.toml` lists. A name is one of a
function, a parameter, a variable or an attribute that a method sets. Fields of classes are left out: many are published
as keys. It prints one line per name and exits 1 if there is any.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VOCABULARY = Path(__file__).with_name("vocabulary.toml")


@dataclass(frozen=True, slots=True)
class NameRules:
    """`words` are the names to find, `files` the globs of what is read, `allowed` the names in a file that may stay."""

    words: frozenset[str]
    files: Sequence[str]
    allowed: frozenset[tuple[str, str]]


def read_rules(path: Path = VOCABULARY) -> NameRules:
    """The rules for names in a vocabulary."""
    table = tomllib.loads(path.read_text("utf-8"))["names"]
    allowed = {(file, name) for file, names in table["allowed"].items() for name in names}
    return NameRules(frozenset(table["words"]), table["files"], frozenset(allowed))


def names_in(source: str) -> Iterator[tuple[int, str]]:
    """The line and the name of each function, class, parameter, variable and attribute that a source defines."""
    tree = ast.parse(source)
    fields = {id(field.target) for field in _fields(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in fields:
                yield node.lineno, name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name


def _fields(tree: ast.AST) -> Iterator[ast.AnnAssign]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (line for line in node.body if isinstance(line, ast.AnnAssign))


def find_names(rules: NameRules, root: Path = ROOT) -> Iterator[str]:
    """A line for each listed name: `FILE:LINE: NAME`."""
    files = sorted({file for glob in rules.files for file in root.glob(glob)})
    for file in files:
        place = file.relative_to(root).as_posix()
        for line, name in sorted(set(names_in(file.read_text("utf-8")))):
            word = name.strip("_").lower()
            if word in rules.words and (place, word) not in rules.allowed:
                yield f"{place}:{line}: {name!r}: name what the value is, or what the function does"


def main() -> int:
    """Print what is found. The exit code is 1 if there is anything."""
    hits = list(find_names(read_rules()))
    for hit in hits:
        print(hit)
    return int(bool(hits))


if __name__ == "__main__":
    sys.exit(main())
