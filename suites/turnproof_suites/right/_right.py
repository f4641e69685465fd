"""`@right(name)`: a small class that takes one freedom, made into a `RightAdapter` that nothing may catch.

Its row in `right.toml` says where the freedom shows and who else takes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from turnproof.provider import PATHS, Path
from turnproof.run.driver.mutation import Mutant

from ..mutants import Broken, Rewriting
from ..rows import read_rows, row_of

Freedom: TypeAlias = Literal[
    "answers",
    "cache marks",
    "call ids",
    "chunks",
    "errors",
    "headers and addresses",
    "instructions",
    "JSON",
    "pictures and bytes",
    "request fields",
    "schemas and declarations",
    "settings",
    "texts and messages",
    "thoughts and signatures",
    "threads",
    "tool names",
    "tool results",
    "usage",
]
"""What an API or the contract leaves open, and a right adapter does in another way than the reference adapters."""


class Library(NamedTuple):
    """A place in a public library that takes a freedom: a repository of GitHub and a file in it."""

    repository: str
    file: str

    @property
    def address(self) -> str:
        """The page of the file in the newest version of the repository."""
        return f"https://github.com/{self.repository}/blob/HEAD/{self.file}"


@dataclass(frozen=True, slots=True)
class RightAdapter(Mutant):
    """An adapter that is right in an unusual way. `seen_in` is the library that takes the freedom like this, where one
    is known."""

    freedom: Freedom = "answers"
    seen_in: Library | None = None


ROWS_FILE = File(__file__).parent.parent / "right.toml"


class RightRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of `right.toml`."""

    name: str
    freedom: Freedom
    scenarios: tuple[str, ...]
    seen_in: str = ""
    capability: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ()
    paths: tuple[Path, ...] = PATHS
    in_evidence: bool = True

    @property
    def library(self) -> Library | None:
        """What `seen_in` names, `owner/repository:path`."""
        repository, _, file = self.seen_in.partition(":")
        return Library(repository, file) if file else None


@cache
def right_rows() -> dict[str, RightRow]:
    """The rows of `right.toml` by name. Raises CatalogueError as `read_rows` does."""
    return read_rows(ROWS_FILE, "adapter", RightRow)


def right(name: str) -> Callable[[type[Broken] | type[Rewriting]], RightAdapter]:
    """Turn the decorated class into the right adapter of this name in `right.toml`; its docstring says what it does and
    why that means the same. Raises CatalogueError without a row."""
    row = row_of(right_rows(), name, ROWS_FILE, "adapter")

    def make(cls: type[Broken] | type[Rewriting]) -> RightAdapter:
        wraps = issubclass(cls, Broken)
        return RightAdapter(
            name=name,
            seam="inputs" if wraps else "wire",
            breaks=inspect.getdoc(cls) or "",
            caught_by="",
            sources=(),
            scenarios=row.scenarios,
            capability=row.capability,
            dialects=row.dialects,
            paths=row.paths,
            wrap=cls if wraps else None,
            filter=None if wraps else cls,
            freedom=row.freedom,
            seen_in=row.library,
            in_evidence=row.in_evidence,
        )

    return make
