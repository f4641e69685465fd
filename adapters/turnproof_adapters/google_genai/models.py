"""What the adapter has to know of a model by its name. State of November 2026."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .target import Target

DIALECT = "gemini"

# gemini-3-flash-preview, models/gemini-3.1-pro-preview, publishers/google/models/gemini-2.0-flash-001
_NAME = re.compile(r"gemini-(?P<major>\d+)(?:\.(?P<minor>\d+))?-(?P<line>[a-z]+)")
_CURRENT = (99, 0)


@dataclass(frozen=True, slots=True)
class Model:
    """The features of a model, derived from its place in the family. Unknown names count as current models."""

    line: str
    version: tuple[int, int]

    @property
    def context_tokens(self) -> int:
        """The window in tokens of input."""
        return 2_097_152 if self.version == (1, 5) and self.line == "pro" else 1_048_576

    @property
    def thinks(self) -> bool:
        """Thinking arrived with 2.5."""
        return self.version >= (2, 5)

    @property
    def demands_signatures(self) -> bool:
        """Since 3 the first call of each step must carry the signature it was issued with."""
        return self.version >= (3, 0)

    @property
    def structured(self) -> bool:
        """Before 3 a request may demand JSON or offer tools, not both."""
        return self.version >= (3, 0)

    @property
    def cache_minimum_tokens(self) -> int:
        """The smallest prefix that can be stored (https://ai.google.dev/gemini-api/docs/caching)."""
        return 4096 if self.line == "pro" else 1024

    @property
    def takes_media_in_results(self) -> bool:
        """Since 3 a function's response may hold images and documents itself."""
        return self.version >= (3, 0)


def model(name: str | None) -> Model:
    """The model of that name, on any platform's spelling that keeps Google's own name inside.

    None, where none is chosen yet, counts as an unknown name.
    """
    found = _NAME.search(name) if name else None
    if found is None:
        return Model("", _CURRENT)
    return Model(found["line"], (int(found["major"]), int(found["minor"] or 0)))


def target(name: str) -> Target:
    """The model of that name as the conversion has to know it."""
    facts = model(name)
    return Target(DIALECT, name, facts.demands_signatures, facts.takes_media_in_results)
