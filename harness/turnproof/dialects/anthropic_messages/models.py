"""The models of `models.toml`, under their dated ids and their aliases."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

from ..base import ModelFacts


def load() -> Mapping[str, ModelFacts]:
    """Every model by id; an alias has facts of its own, with `alias_of` naming the dated id."""
    table = tomllib.loads(resources.files(__package__).joinpath("models.toml").read_text("utf-8"))
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


MODELS = load()


def dated(facts: ModelFacts) -> str:
    """The id that answers carry, also when an alias was asked."""
    return facts.alias_of or facts.id


def same_model(a: str, b: str) -> bool:
    """Whether two names mean one model."""
    return a == b or _resolve(a) == _resolve(b)


def _resolve(name: str) -> str:
    facts = MODELS.get(name)
    return dated(facts) if facts else name
