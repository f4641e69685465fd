"""The pairs of a dialect: the smallest request that offends a rule, and its nearest legal neighbour."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module, resources
from typing import Any

import msgspec

from ...dialects import api_of, dialect, dialect_names
from ...dialects.base import HttpRequest
from ...dialects.contract import Dialect
from ...errors import UsageError


class PlainRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request as plain data: its body is `json`, or a `text` that is none. `[key]` is where the key belongs."""

    method: str
    path: str
    headers: dict[str, str]
    query: dict[str, str] = {}
    json: Any = msgspec.UNSET
    text: str = ""

    @property
    def body(self) -> bytes:
        """The body's bytes."""
        return self.text.encode() if self.json is msgspec.UNSET else msgspec.json.encode(self.json)

    @property
    def model(self) -> str:
        """The model that the body names, if it names one."""
        name = self.json.get("model") if isinstance(self.json, dict) else None
        return name if isinstance(name, str) else ""

    @property
    def model_asked(self) -> str:
        """The model that is asked, by the body or by the address."""
        return self.model.removeprefix("models/") or self.path.partition("/models/")[2].rpartition(":")[0]

    def with_model(self, model: str) -> PlainRequest:
        """The request to another model. In Gemini's addresses the model is a part of the path."""
        if self.model:
            return msgspec.structs.replace(self, json={**self.json, "model": model})
        before, marker, rest = self.path.partition("/models/")
        if not marker:
            return self
        return msgspec.structs.replace(self, path=f"{before}{marker}{model}:{rest.rpartition(':')[2]}")

    def as_http(self) -> HttpRequest:
        """The request in the form that dialects read and services get."""
        return HttpRequest(self.method, self.path, self.query, self.headers, self.body)


class RulePair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule's name within its dialect, what the dialect answers to the illegal request, and both requests."""

    rule: str
    status: int
    enforced: bool
    illegal: PlainRequest
    legal: PlainRequest
    kind: str = ""
    message: str = ""
    variant: str = ""
    surface: str = ""

    @property
    def id(self) -> str:
        return f"{self.rule}-{self.variant}" if self.variant else self.rule


class DialectPairs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All pairs of a dialect; `left_out` says of others why nobody is asked them."""

    dialect: str
    pairs: tuple[RulePair, ...]
    left_out: dict[str, str]


def rule_id(wire: Dialect, pair: RulePair) -> str:
    """The whole id of a pair's rule, as lines of a census and the dialect have it."""
    return f"{api_of(wire.name)}/{pair.rule}"


@cache
def pairs_of(name: str) -> DialectPairs:
    """The pairs of a dialect. Raises UsageError for one whose API has no public key."""
    package = import_module(type(dialect(name)).__module__.rpartition(".")[0])
    file = resources.files(package).joinpath("pairs.json")
    if not file.is_file():
        known = ", ".join(one for one in dialect_names() if _has_pairs(one))
        raise UsageError(f"there is no census of {name!r}: nobody has a key of its API. Known: {known}")
    return msgspec.json.decode(file.read_bytes(), type=DialectPairs)


def selected(name: str, patterns: tuple[str, ...]) -> tuple[RulePair, ...]:
    """The pairs for a service: those of its surface, and of these rules. Raises UsageError for a pattern that matches
    no rule."""
    _, _, surface = name.partition("@")
    data = pairs_of(api_of(name))
    first = next((pair.surface for pair in data.pairs if pair.surface), "")
    own_pairs = [pair for pair in data.pairs if pair.surface == (surface or first)]
    for pattern in patterns:
        if not any(fnmatchcase(pair.rule, pattern) for pair in own_pairs):
            raise UsageError(f"no rule that can be asked matches {pattern!r} (list: turnproof census {name})")
    return tuple(pair for pair in own_pairs if not patterns or any(fnmatchcase(pair.rule, one) for one in patterns))


def _has_pairs(name: str) -> bool:
    package = import_module(type(dialect(name)).__module__.rpartition(".")[0])
    return resources.files(package).joinpath("pairs.json").is_file()
