"""What the adapter has to know of a model by its name. State of November 2026.

Windows and abilities are those of the model pages at https://platform.openai.com/docs/models. A name that is not
OpenAI's is another service's model: nothing is known of it, and the service decides what it takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")


@dataclass(frozen=True, slots=True)
class Model:
    """The features of a model. `context_tokens` is 0 where the window is not known.

    `thinks` says that it takes `reasoning_effort`, `known` that the name is OpenAI's. Models that think refuse
    `max_tokens` and take `max_completion_tokens` in its place; so do all others of OpenAI.
    """

    context_tokens: int = 0
    thinks: bool = True
    structured: bool = True
    images: bool = True
    documents: bool = True
    known: bool = True


_UNKNOWN = Model(known=False)
_TEXT_ONLY = {"images": False, "documents": False}

_FAMILIES = (
    # Also under a publisher's or a router's name: openai/gpt-5-mini.
    (r"gpt-5(?:\.\d)?-chat(?:-|$)", Model(128_000, thinks=False)),
    (r"gpt-5(?:[.-]|$)", Model(400_000)),
    (r"gpt-(?:[6-9]|\d\d)(?:[.-]|$)", Model()),
    (r"gpt-4\.1(?:-|$)", Model(1_047_576, thinks=False)),
    # Schemas came with the version of August 2024.
    (r"gpt-4o-2024-05-13$", Model(128_000, thinks=False, structured=False)),
    (r"(?:chat)?gpt-4o(?:-|$)", Model(128_000, thinks=False)),
    (r"gpt-4-turbo(?:-|$)", Model(128_000, thinks=False, structured=False, documents=False)),
    (r"gpt-4(?:-|$)", Model(8_192, thinks=False, structured=False, **_TEXT_ONLY)),
    (r"gpt-3\.5(?:-|$)", Model(16_385, thinks=False, structured=False, **_TEXT_ONLY)),
    (r"o1-(?:mini|preview)(?:-|$)", Model(128_000, thinks=False, structured=False, **_TEXT_ONLY)),
    (r"o3-mini(?:-|$)", Model(200_000, **_TEXT_ONLY)),
    (r"o[134](?:-|$)", Model(200_000)),
)
_KNOWN = tuple((re.compile(rf"(?:.*/)?{pattern}"), facts) for pattern, facts in _FAMILIES)


def model(name: str | None) -> Model:
    """What is known of the model of that name. None, where none is chosen yet, counts as an unknown name."""
    return next((facts for pattern, facts in _KNOWN if pattern.match(name or "")), _UNKNOWN)


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model: an alias and its dated id do. Answers name the dated id."""
    return a == b or _DATE.sub("", a) == _DATE.sub("", b)
