"""What the adapter has to know of a model by its name. State of November 2026."""

from __future__ import annotations

import re
from dataclasses import dataclass

DIALECT = "anthropic-messages"

DEFAULT_MAX_TOKENS = 8192
"""Room for an answer unless the endpoint's options say otherwise."""

# claude-sonnet-4-5-20250929, claude-opus-5, claude-3-5-haiku-20241022, claude-3-opus-latest
_NEW_STYLE = re.compile(r"claude-(?P<line>[a-z]+)-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?(?:-|$)")
_OLD_STYLE = re.compile(r"claude-(?P<major>\d+)(?:-(?P<minor>\d{1,2}))?-(?P<line>[a-z]+)")
_DATE = re.compile(r"-(?:\d{8}|latest|0)$")
"""What tells the names of one model apart: `claude-sonnet-4-0` is an alias of `claude-sonnet-4-20250514`."""


@dataclass(frozen=True, slots=True)
class Model:
    """The features of a model, derived from its place in the family. Unknown names count as current models."""

    line: str
    version: tuple[int, int]

    @property
    def max_tokens(self) -> int:
        """`DEFAULT_MAX_TOKENS`, or less where the model itself writes less."""
        return 4096 if self.version < (3, 5) else DEFAULT_MAX_TOKENS

    @property
    def context_tokens(self) -> int:
        """The window: a million tokens since 4.6, except for the small line."""
        return 1_000_000 if self.version >= (4, 6) and self.line != "haiku" else 200_000

    @property
    def thinks(self) -> bool:
        """Extended thinking arrived with 3.7."""
        return self.version >= (3, 7)

    @property
    def adaptive_only(self) -> bool:
        """Since 4.7 a model decides for itself how much to think: a fixed budget is refused."""
        return self.version >= (4, 7)

    @property
    def structured(self) -> bool:
        """`output_config.format` arrived with Opus 4.1 and the 4.5 models."""
        return self.version >= (4, 5) or (self.line == "opus" and self.version >= (4, 1))

    @property
    def mid_system(self) -> bool:
        """Messages of role `system` are recorded with Opus 4.8; earlier models refuse them."""
        return self.version >= (4, 8)

    @property
    def prefill(self) -> bool:
        """Since 4.6 a conversation that ends with the model's own words is refused."""
        return self.version < (4, 6)

    @property
    def documents(self) -> bool:
        """PDF input arrived with the 3.5 models."""
        return self.version >= (3, 5)


class CompatibleModel:
    """A model that another service offers under this API, as far as nothing else is known of it."""

    __slots__ = ()

    @property
    def max_tokens(self) -> int:
        """Room for an answer. The API asks for a figure, and these models write more."""
        return DEFAULT_MAX_TOKENS

    @property
    def adaptive_only(self) -> bool:
        """No form of thinking configuration is refused."""
        return False

    @property
    def structured(self) -> bool:
        """These services pass over a response schema at this address; some heed it on an API of their own."""
        return False

    @property
    def prefill(self) -> bool:
        """Nothing says that a conversation which ends with the model's own words is refused."""
        return True


_CURRENT = (99, 0)


def model(name: str | None) -> Model:
    """The model of that name, on any platform's spelling that keeps Anthropic's own name inside.

    None, where none is chosen yet, counts as an unknown name.
    """
    found = (_NEW_STYLE.search(name) or _OLD_STYLE.search(name)) if name else None
    if found is None:
        return Model("", _CURRENT)
    return Model(found["line"], (int(found["major"]), int(found["minor"] or 0)))


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model: an alias and its dated id do. Answers name the dated id."""
    return a == b or _DATE.sub("", a) == _DATE.sub("", b)
