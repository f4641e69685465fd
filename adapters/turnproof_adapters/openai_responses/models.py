"""What the adapter has to know of a model by its name. State of November 2026.

Windows as OpenAI documents them for these families: 128,000 for GPT-4o, 1,047,576 for GPT-4.1, 200,000 for the
o-series, 400,000 for GPT-5 and 1,050,000 since GPT-5.5. Which models reason is said at
https://platform.openai.com/docs/guides/reasoning. A service that narrows a window says so in its own model list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

DIALECT = "openai-responses"

# gpt-5.3-codex, gpt-4o-2024-08-06, o4-mini-2025-04-16, with or without a publisher in front
_GPT = re.compile(r"(?:^|/)gpt-(?P<major>\d+)(?:\.(?P<minor>\d+))?")
_O = re.compile(r"(?:^|/)o\d")
_DATE = re.compile(r"-20\d\d-\d\d-\d\d$")


@dataclass(frozen=True, slots=True)
class Model:
    """The features of a model. `thinks` says whether its answers hold reasoning items. All take a response schema."""

    thinks: bool
    context_tokens: int
    structured: bool = True


_CURRENT = Model(thinks=True, context_tokens=400_000)
_O_SERIES = Model(thinks=True, context_tokens=200_000)


def model(name: str | None) -> Model:
    """The model of that name, dated or not. Unknown names, and None, count as current models that reason."""
    if name is None or (found := _GPT.search(name)) is None:
        return _O_SERIES if name and _O.search(name) else _CURRENT
    version = (int(found["major"]), int(found["minor"] or 0))
    if version >= (5, 5):
        return Model(thinks=True, context_tokens=1_050_000)
    if version >= (5, 0):
        return _CURRENT
    return Model(thinks=False, context_tokens=1_047_576 if version >= (4, 1) else 128_000)


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model: an alias and its dated id do. Answers name the dated id."""
    return a == b or _DATE.sub("", a) == _DATE.sub("", b)
