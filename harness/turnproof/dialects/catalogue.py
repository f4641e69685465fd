"""What services know of their models, read from the table `models.json`.

`nox -s models` writes the table from the sources in `models/`. A row has `dialect`, `id`, `context` and `output`
(tokens), `minimum` (tokens of a cached prefix), `features` and perhaps an `alias`. `facts` and `window` name and date
the sources of its facts and of its window.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from .base import ModelFacts


@cache
def _table() -> Any:
    return json.loads(resources.files(__package__).joinpath("models.json").read_text("utf-8"))


def table_date() -> str:
    """The day of the table's newest facts, `2026-11-25`."""
    return str(_table()["date"])


def load(package: str) -> Mapping[str, ModelFacts]:
    """Every model of a dialect's package by id.

    An alias has facts of its own, with `alias_of` naming the id that answers carry.
    """
    dialect = package.rpartition(".")[2]
    found: dict[str, ModelFacts] = {}
    for row in _table()["models"]:
        if row["dialect"] != dialect:
            continue
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
