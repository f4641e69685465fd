"""Arguments that come as a string of JSON where an object belongs.

GLM models write them so at times: all of them, or one whose schema is an object, alone or as an alternative (public
issues of several agents). Such a string is read if it is a JSON object, and if the schema leaves no room for a string:
a text that merely looks like JSON stays a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


def as_declared(arguments: Any, schema: Any) -> Any:
    """The arguments of a call, as the tool's schema has them. What cannot be read is left as it is."""
    return _members(_object_in(arguments), schema)


def _members(arguments: Any, schema: Any) -> Any:
    """An object with its own members as their schemas have them."""
    if not isinstance(arguments, dict):
        return arguments
    nothing: Mapping[str, Any] = {}
    declared = next((each["properties"] for each in _alternatives(schema) if _has_members(each)), nothing)
    return {name: _member(value, declared.get(name)) for name, value in arguments.items()}


def _member(value: Any, schema: Any) -> Any:
    if isinstance(value, str):
        kinds = {kind for each in _alternatives(schema) for kind in _kinds(each)}
        if "object" not in kinds or kinds & {"string", None}:
            return value
        value = _object_in(value)
    return _members(value, schema)


def _object_in(arguments: Any) -> Any:
    """The object that a string is the JSON of; anything else as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        found = msgspec.json.decode(arguments)
    except (ValueError, RecursionError):
        return arguments
    return found if isinstance(found, dict) else arguments


def _alternatives(schema: Any) -> list[Mapping[str, Any]]:
    """The schemas of which one has to hold, less those that are none."""
    if not isinstance(schema, Mapping):
        return []
    for key in ("anyOf", "oneOf"):
        listed = schema.get(key)
        if isinstance(listed, list | tuple):
            return [found for each in listed for found in _alternatives(each)]
    return [schema]


def _kinds(schema: Mapping[str, Any]) -> list[str | None]:
    """The types that a schema has room for; None for any."""
    kind = schema.get("type")
    if kind is None and "properties" in schema:
        return ["object"]
    return list(kind) if isinstance(kind, list | tuple) else [kind]


def _has_members(schema: Mapping[str, Any]) -> bool:
    return isinstance(schema.get("properties"), Mapping)
