"""What a service knows of its models, read from the `models.toml` of its dialect.

A row has `id`, `context` and `output` (tokens), `minimum` (tokens of a cached prefix), `features`, and perhaps an
`alias`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from .base import ModelFacts


def load(package: str) -> Mapping[str, ModelFacts]:
    """Every model by id; an alias has facts of its own, with `alias_of` naming the id that answers carry."""
    table = tomllib.loads(resources.files(package).joinpath("models.toml").read_text("utf-8"))
    found: dict[str, ModelFacts] = {}
    for row in table["model"]:
        for name in filter(None, (row["id"], row.get("alias"))):
            found[name] = ModelFacts(
                id=name,
                context_tokens=row["context"],
                max_output_tokens=row["output"],
                cache_minimum_tokens=row["minimum"],
                alias_of=row["id"] if name != row["id"] else None,
                features=frozenset(row["features"]),
            )
    return MappingProxyType(found)


def dated(facts: ModelFacts) -> str:
    """The id that answers carry, also when an alias was asked."""
    return facts.alias_of or facts.id


def same_model(models: Mapping[str, ModelFacts], a: str, b: str) -> bool:
    """Whether two names mean one model; a name that is not listed means itself."""
    return a == b or _resolve(models, a) == _resolve(models, b)


def _resolve(models: Mapping[str, ModelFacts], name: str) -> str:
    facts = models.get(name)
    return dated(facts) if facts else name
