"""Models that the table does not list: each is taken with what its family has in common.

A new model is no mistake of an adapter. What only some models refuse is not refused to one that nothing is known of,
what any model of its family accepts is accepted, and its answers are made like those of the model with the most similar
name. An adapter is refused an unknown model only where a scenario scripts that refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from .base import ModelFacts

LIMITS = frozenset({
    "adaptive-only", "completion-tokens", "demands-signatures", "fixed-sampling", "long-context-beta", "no-prefill",
    "no-sampling", "no-system", "one-sampling", "retired", "strict-window", "withdrawn",
})  # fmt: skip
"""Features by which a model refuses what others accept."""

PERMISSIONS = frozenset({
    "adaptive", "implicit-cache", "json-with-tools", "mid-system", "reasons", "sees", "thinking", "thinks",
    "tools", "vision",
})  # fmt: skip
"""Features without which a model refuses what others accept, or does less."""

_LEVELS = "effort:"
"""A list of what a model accepts. A new model may accept more than any listed one does, so it gets no list."""

_WORD = re.compile(r"[a-z]+")


class AnyModel(Mapping[str, ModelFacts]):
    """The listed models, and facts for any other name. It iterates over the listed models only.

    Every name but the empty one is in it.
    """

    def __init__(self, listed: Mapping[str, ModelFacts]) -> None:
        self._listed = listed
        self._derived: dict[str, ModelFacts] = {}

    def __getitem__(self, name: str) -> ModelFacts:
        if name in self._listed or not name or not self._listed:
            return self._listed[name]
        if name not in self._derived:
            self._derived[name] = derive_facts(name, self._listed)
        return self._derived[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


def derive_facts(name: str, listed: Mapping[str, ModelFacts]) -> ModelFacts:
    """Facts for a model that is not listed, from the listed models of its family, or from all where it has none.

    The family is told by a word that both names begin with, perhaps behind a prefix: `us.anthropic.claude-x-1` is one
    of `claude`. Windows are the largest of the family, and prompts are cached from its smallest size on.
    """
    words = set(_WORD.findall(name.lower()))
    family = [facts for model, facts in listed.items() if _family_word(model) in words] or list(listed.values())
    nearest = max(family, key=lambda facts: _shared_start(facts.id, name))
    features = nearest.features | (PERMISSIONS & frozenset().union(*(facts.features for facts in family)))
    return replace(
        nearest,
        id=name,
        context_tokens=max(facts.context_tokens for facts in family),
        max_output_tokens=max(facts.max_output_tokens for facts in family),
        cache_minimum_tokens=min(facts.cache_minimum_tokens for facts in family),
        alias_of=None,
        features=frozenset(each for each in features - LIMITS if not each.startswith((_LEVELS, "on:"))),
    )


def _family_word(model: str) -> str:
    found = _WORD.search(model.rpartition("/")[2])
    return found[0] if found else ""


def _shared_start(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
