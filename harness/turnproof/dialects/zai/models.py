"""The models of this dialect, and the Claude names that the server takes for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..anthropic_messages.models import MODELS as CLAUDE
from ..base import ModelFacts
from ..catalogue import load

SEES, SIGNS = "sees", "signs"

_FOR_HAIKU, _FOR_OTHERS = "glm-4.5-air", "glm-4.7"
"""What the service's guide for Claude Code maps the names to (docs.z.ai)."""


def _models() -> Mapping[str, ModelFacts]:
    own = load(__package__)
    mapped = {name: own[_FOR_HAIKU if "haiku" in name else _FOR_OTHERS] for name in CLAUDE}
    return MappingProxyType({**own, **{name: replace(glm, id=name, alias_of=glm.id) for name, glm in mapped.items()}})


MODELS = _models()
"""Every model by the names it may be asked by; answers carry the GLM name."""
