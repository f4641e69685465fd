"""`@right(...)`: a small class that takes one freedom, made into a `RightAdapter` that nothing may catch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from turnproof.provider import PATHS, Path
from turnproof.run.driver.mutation import Mutant

from ..mutants import Broken, Rewriting

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


def right(
    name: str,
    freedom: Freedom,
    *,
    scenarios: tuple[str, ...],
    seen_in: Library | None = None,
    capability: tuple[str, ...] = (),
    dialects: tuple[str, ...] = (),
    paths: tuple[Path, ...] = PATHS,
    in_evidence: bool = True,
) -> Callable[[type[Broken] | type[Rewriting]], RightAdapter]:
    """Turn the decorated class into a right adapter; its docstring says what it does and why that means the same.

    `scenarios` are globs of those that show the freedom, `capability` is what an adapter must claim for it, and
    `dialects` are the wire APIs that leave it, if not all do. `in_evidence` is False where evidence does not show it.
    """

    def make(cls: type[Broken] | type[Rewriting]) -> RightAdapter:
        wraps = issubclass(cls, Broken)
        return RightAdapter(
            name=name,
            seam="inputs" if wraps else "wire",
            breaks=inspect.getdoc(cls) or "",
            caught_by="",
            sources=(),
            scenarios=scenarios,
            capability=capability,
            dialects=dialects,
            paths=paths,
            wrap=cls if wraps else None,
            filter=None if wraps else cls,
            freedom=freedom,
            seen_in=seen_in,
            in_evidence=in_evidence,
        )

    return make
