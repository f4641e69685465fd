"""What the adapter has to know of a model by its name. State of November 2026.

The gateway has models of three families behind one form. Names, and which of them think: notes of the authors of
NoeFabris/opencode-antigravity-auth (2025-12). Windows: as the models have elsewhere; that of Claude stands in the
gateway's own refusals (`prompt is too long: ... > 200000 maximum`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..google_genai.finish import CALLING
from ..google_genai.models import model as gemini
from ..google_genai.target import Target

DIALECT = "antigravity"

_CLAUDE = re.compile(r"claude-[a-z]+-(?P<major>\d+)-(?P<minor>\d+)(?P<thinks>-thinking)?")

_CALLING = CALLING | {"OTHER"}
"""Claude's calls come under `OTHER` as often as under `STOP`: it is the parts that tell."""


@dataclass(frozen=True, slots=True)
class Model:
    """The features of a model, as far as requests and claims depend on them."""

    is_gemini: bool
    is_claude: bool
    context_tokens: int
    thinks: bool
    demands_signatures: bool = False
    takes_media_in_results: bool = False
    structured: bool = False


def model(name: str | None) -> Model:
    """The model of that name. Names of no known family count as ones without features."""
    name = name or ""
    if name.startswith("claude-"):
        found = _CLAUDE.match(name)
        thinks = found is None or bool(found["thinks"]) or (int(found["major"]), int(found["minor"])) >= (4, 6)
        return Model(False, True, 200_000, thinks)
    if name.startswith("gemini-"):
        facts = gemini(name)
        return Model(
            True,
            False,
            facts.context_tokens,
            facts.thinks,
            facts.demands_signatures,
            facts.takes_media_in_results,
            facts.structured,
        )
    return Model(False, False, 131_072, thinks=False)


def target(name: str) -> Target:
    """The model of that name as the conversion has to know it."""
    facts = model(name)
    return Target(
        DIALECT,
        name,
        facts.demands_signatures,
        facts.takes_media_in_results,
        anthropic=facts.is_claude,
        calling=_CALLING,
        mixes_families=True,
    )
