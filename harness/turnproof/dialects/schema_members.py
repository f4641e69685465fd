"""What a JSON Schema says, member by member: what the caller declared against what stands in the request.

An API has its own spelling of a schema, so both are read into the same small form first: types in lower case, `null` as
a type however it is written, `const` as an `enum` of one, references to `$defs` followed. What a schema has in
addition is the adapter's right. What it lacks may stand in words, in the description of the place or above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from ..messages import JSON
from .atoms import same_json

CONSTRAINTS: Final = (
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
)
"""Members that forbid values, beside those that are read in a way of their own."""

ANNOTATIONS: Final = ("description", "default", "format")
"""Members that forbid nothing, and tell the model what is meant."""

_UNIONS: Final = ("anyOf", "any_of", "oneOf", "allOf")
_OF_NAMED_SCHEMAS: Final = ("properties", "$defs", "defs", "definitions")
_SPELLINGS: Final = {
    "min_length": "minLength",
    "max_length": "maxLength",
    "min_items": "minItems",
    "max_items": "maxItems",
    "unique_items": "uniqueItems",
}
_PASSED_OVER: Final = ("$id", "$schema", "additionalProperties", "strict", "title")
_FORMS: Final = ("$ref", "const", "items", "nullable", "ref", "required", "type")
_READ: Final = frozenset(
    (*_FORMS, *_PASSED_OVER, *CONSTRAINTS, *ANNOTATIONS, *_UNIONS, *_OF_NAMED_SCHEMAS, *_SPELLINGS)
)
"""Members whose meaning is known here: those that are compared, and those that a schema may get on its way."""

_DEEPEST: Final = 12
"""Levels that are read: a schema may refer to itself."""


@dataclass(frozen=True, slots=True)
class LostMember:
    """A member of a schema that did not arrive: its path, its name, what was declared and what stands there."""

    path: str
    member: str
    wanted: JSON
    found: JSON


def lost_members(
    declared: Mapping[str, Any], sent: Mapping[str, Any], *, annotations: bool = False
) -> Iterator[LostMember]:
    """What of a declared schema the sent one lacks: constraints, or annotations instead."""
    yield from _Reading(declared, sent, annotations).compare(declared, sent, "", "", 0, required=True)


def allows_the_same(declared: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
    """Whether a sent schema allows what the declared one does, no more and no less, however it is explained.

    False where the sent one has a member that is not read here.
    """
    return _is_read(sent) and not loses_constraints(declared, sent) and not loses_constraints(sent, declared)


def loses_constraints(declared: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
    """Whether the sent schema lacks a constraint of the declared one."""
    return next(lost_members(declared, sent), None) is not None


def _is_read(schema: Any) -> bool:
    """Whether the meaning of every member of a schema is known here, at every level."""
    if isinstance(schema, list | tuple):
        return all(map(_is_read, schema))
    if not isinstance(schema, Mapping):
        return True
    named = [value for name, value in schema.items() if name in _OF_NAMED_SCHEMAS and isinstance(value, Mapping)]
    below = [schema.get(name) for name in ("items", *_UNIONS)]
    return schema.keys() <= _READ and all(map(_is_read, [*below, *(one for each in named for one in each.values())]))


class _Reading:
    """Two schemas, with the definitions that each refers to."""

    def __init__(self, declared: Mapping[str, Any], sent: Mapping[str, Any], annotations: bool) -> None:
        self._declared = declared
        self._sent = sent
        self._annotations = annotations

    def compare(
        self, declared: Any, sent: Any, path: str, words: str, depth: int, *, required: bool
    ) -> Iterator[LostMember]:
        """What is lost of one schema in the other, and below it. `words` are the descriptions above this place."""
        if depth > _DEEPEST or not isinstance(declared, Mapping):
            return
        declared, sent = _plain(declared, self._declared), _plain(sent, self._sent)
        if bool(declared["branches"]) != bool(sent["branches"]):
            declared, sent = _with_types(declared, self._declared), _with_types(sent, self._sent)
        words = f"{words} {sent.get('description', '')}"
        if declared["branches"]:
            yield from self._union(declared, sent, path, words, depth)
        elif self._annotations:
            yield from self._members(ANNOTATIONS, declared, sent, path, words)
        else:
            yield from self._types(declared, sent, path, words, required=required)
            yield from self._members(CONSTRAINTS, declared, sent, path, words)
        for name, inner in declared["properties"].items():
            below = sent["properties"].get(name)
            if below is None:
                if not self._annotations:
                    yield LostMember(f"{path}.{name}", "properties", name, sorted(sent["properties"]))
                continue
            must = name in declared["required"]
            if must and name not in sent["required"] and not self._annotations:
                yield LostMember(f"{path}.{name}", "required", name, sorted(sent["required"]))
            yield from self.compare(inner, below, f"{path}.{name}", words, depth + 1, required=must)
        if declared["items"] is not None:
            if sent["items"] is None and not self._annotations:
                yield LostMember(f"{path}[]", "items", _brief(declared["items"]), None)
            elif sent["items"] is not None:
                yield from self.compare(declared["items"], sent["items"], f"{path}[]", words, depth + 1, required=True)

    def _union(
        self, declared: Mapping[str, Any], sent: Mapping[str, Any], path: str, words: str, depth: int
    ) -> Iterator[LostMember]:
        branches: Sequence[Any] = sent["branches"]
        if len(branches) != len(declared["branches"]):
            if not self._annotations:
                yield LostMember(
                    path, "anyOf", [_brief(one) for one in declared["branches"]], [_brief(one) for one in branches]
                )
            return
        for number, (one, other) in enumerate(zip(declared["branches"], branches, strict=True)):
            yield from self.compare(one, other, f"{path}|{number}", words, depth + 1, required=True)

    def _types(
        self, declared: Mapping[str, Any], sent: Mapping[str, Any], path: str, words: str, *, required: bool
    ) -> Iterator[LostMember]:
        expected, found = declared["types"], sent["types"]
        # A mode that requires every property lets those be null that may be left out.
        also = frozenset() if required else frozenset({"null"})
        differs = not found or not found <= expected | also or not expected <= found
        if expected and differs and not all(name in words for name in expected):
            yield LostMember(path, "type", sorted(expected), sorted(found))

    def _members(
        self, names: Sequence[str], declared: Mapping[str, Any], sent: Mapping[str, Any], path: str, words: str
    ) -> Iterator[LostMember]:
        for name in names:
            expected = declared.get(name)
            if expected is None or (name == "description" and not expected):
                continue
            found = sent.get(name)
            if not _is_kept(name, expected, found) and not _in_words(expected, words):
                yield LostMember(path, name, expected, found)


def _is_kept(name: str, expected: Any, found: Any) -> bool:
    if name == "description":
        return isinstance(found, str) and expected in found
    if name == "enum":
        values = found if isinstance(found, list) else []
        return {_text(one) for one in expected} == {_text(one) for one in values if one is not None or None in expected}
    return same_json(expected, found) or _text(expected) == _text(found)


def _in_words(expected: Any, words: str) -> bool:
    """Whether the words above a place name the value, or each value of an enumeration."""
    values = expected if isinstance(expected, list) else [expected]
    return all(_text(value) in words for value in values)


def _text(value: Any) -> str:
    """A value as text: an API may want the values of an enumeration, or a bound, as texts."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode().removesuffix(".0")


def _brief(schema: Any) -> JSON:
    return schema.get("type") or schema.get("$ref") or "..." if isinstance(schema, Mapping) else schema


def _plain(schema: Any, root: Mapping[str, Any]) -> dict[str, Any]:
    """One level of a schema in the form that both are compared in."""
    schema = _followed(schema if isinstance(schema, Mapping) else {}, root)
    types = _types_of(schema)
    branches: list[Any] = []
    for one in schema.get("anyOf") or schema.get("any_of") or schema.get("oneOf") or ():
        inner = _followed(one, root) if isinstance(one, Mapping) else {}
        if _types_of(inner) == {"null"}:
            types.add("null")
        else:
            branches.append(one)
    if len(branches) == 1:
        own = {name: value for name, value in schema.items() if name not in ("anyOf", "any_of", "oneOf")}
        inner = _plain(branches[0], root)
        inner["types"] = inner["types"] | types
        return {
            **inner,
            **own,
            **{name: inner[name] for name in ("types", "branches", "properties", "required", "items")},
        }
    plain = {_SPELLINGS.get(name, name): value for name, value in schema.items()}
    if "const" in plain:
        plain.setdefault("enum", [plain["const"]])
    plain["types"] = types
    plain["branches"] = branches
    plain["properties"] = _mapping(plain.get("properties"))
    plain["required"] = tuple(plain.get("required") or ())
    plain["items"] = plain.get("items")
    return plain


def _with_types(plain: dict[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """A level with a union of bare types as a list of them, which says the same."""
    followed = [_followed(_mapping(one), root) for one in plain["branches"]]
    if not all(one.keys() == {"type"} for one in followed):
        return plain
    return plain | {"types": plain["types"].union(*map(_types_of, followed)), "branches": []}


def _types_of(schema: Mapping[str, Any]) -> set[str]:
    named = schema.get("type")
    found = {str(one).lower() for one in (named if isinstance(named, list) else [named] if named else [])}
    return found | ({"null"} if schema.get("nullable") is True else set())


def _followed(schema: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with what it refers to in its place; what stands beside the reference counts first."""
    found, seen = dict(schema), set[str]()
    while isinstance(address := found.pop("$ref", found.pop("ref", None)), str) and address not in seen:
        seen.add(address)
        target: Any = root
        for step in address.removeprefix("#").strip("/").split("/"):
            target = target.get(step, {}) if isinstance(target, Mapping) else {}
        found = {**_mapping(target), **found}
    for one in found.get("allOf") or ():
        if isinstance(one, Mapping) and len(found["allOf"]) == 1:
            found = {**_followed(one, root), **{name: value for name, value in found.items() if name != "allOf"}}
    return found


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
