"""Parameters of a tool for models that take no JSON Schema, but Google's own dialect of OpenAPI.

The gateway refuses any keyword that it does not know (`Unknown name "const" at ...: Cannot find field.`). What the
dialect can say in other words is said in those; what it cannot say at all is told in the description, so that the model
still learns of it. The keywords: `antigravity.md` §4, and the fields of `Schema`
(https://ai.google.dev/api/caching#Schema).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from .._encoded_messages import encode

Schema: TypeAlias = dict[str, Any]

_ALLOWED_KEYS = (
    "description",
    "format",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
)
_KEYS_IN_WORDS = ("default", "examples", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "not")
_NULL = {"type": "null"}


def parameters(schema: Mapping[str, Any]) -> Schema:
    """The schema of a tool's parameters; an object in any case."""
    return {"type": "object", **_converted(schema, schema, ())}


def _converted(schema: Any, root: Mapping[str, Any], above: tuple[str, ...]) -> Schema:
    """`above` are the references that lead here: one that comes back to itself stays unexplained."""
    if not isinstance(schema, Mapping):
        return {}  # `true` and `false`, which allow anything and nothing
    reference = schema.get("$ref")
    if isinstance(reference, str):
        meant = _resolved(reference, root) if reference not in above else {}
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        return _converted({**meant, **rest}, root, (*above, reference))
    whole = {**_merged(schema), **{name: value for name, value in schema.items() if name != "allOf"}}
    converted = {name: whole[name] for name in _ALLOWED_KEYS if name in whole}
    converted |= _type(whole.get("type"))
    converted |= _choices(whole)
    options = whole.get("anyOf") or whole.get("oneOf")
    if isinstance(options, Sequence):
        converted |= _any_of([_converted(each, root, above) for each in options if each != _NULL], _NULL in options)
    if isinstance(properties := whole.get("properties"), Mapping):
        converted["properties"] = {name: _converted(each, root, above) for name, each in properties.items()}
    if isinstance(required := whole.get("required"), Sequence) and required:
        converted["required"] = list(required)
    if isinstance(items := whole.get("items"), Mapping):
        converted["items"] = _converted(items, root, above)
    if (more := whole.get("additionalProperties")) is not None:
        converted["additionalProperties"] = more if isinstance(more, bool) else _converted(more, root, above)
    if hints := "; ".join(_hints(whole)):
        converted["description"] = f"{converted['description']} ({hints})" if converted.get("description") else hints
    return converted


def _type(kind: Any) -> Schema:
    if isinstance(kind, str):
        return {"type": kind}
    if not isinstance(kind, Sequence):
        return {}
    kinds = [each for each in kind if each != "null"]
    return _any_of([{"type": each} for each in kinds], len(kinds) < len(kind))


def _any_of(options: list[Schema], nullable: bool) -> Schema:
    schema: Schema = dict(options[0]) if len(options) == 1 else {"anyOf": options}
    return {**schema, "nullable": True} if nullable else schema


def _choices(schema: Mapping[str, Any]) -> Schema:
    """An enumeration, which this dialect has of words alone; `const` is one of a single word."""
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, Sequence) and all(isinstance(each, str) for each in choices):
        return {"type": "string", "enum": list(choices)}
    return {}


def _hints(schema: Mapping[str, Any]) -> Iterator[str]:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, Sequence) and not _choices(schema):
        yield f"one of {encode(choices).decode()}"
    for name in _KEYS_IN_WORDS:
        if name in schema:
            yield f"{name}: {encode(schema[name]).decode()}"


def _merged(schema: Mapping[str, Any]) -> Schema:
    """What `allOf` asks for, all at once."""
    merged: Schema = {}
    every = schema.get("allOf")
    for each in every if isinstance(every, Sequence) else ():
        if isinstance(each, Mapping):
            properties = {**merged.get("properties", {}), **each.get("properties", {})}
            required = [*merged.get("required", ()), *each.get("required", ())]
            merged |= each
            merged |= {"properties": properties} if properties else {}
            merged |= {"required": required} if required else {}
    return merged


def _resolved(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a reference within the schema stands for; nothing where that is not found."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}
