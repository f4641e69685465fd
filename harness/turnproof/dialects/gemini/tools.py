"""Tools as they stand on the wire, as neutral tool schemas.

`parameters` is the API's own dialect of OpenAPI; it is read as the JSON Schema that means the same (types in lower
case, `nullable` as a further type, no `propertyOrdering`). `parametersJsonSchema` is taken as it stands. A tool of the
service itself is all of its definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...messages import JSON, ToolSchema

_NAMES_OF_SCHEMAS = ("properties", "$defs", "defs")


def schemas(tools: Iterable[Mapping[str, Any]]) -> Iterator[ToolSchema]:
    """Every tool that is offered, in order."""
    for tool in tools:
        for key, value in tool.items():
            if key != "functionDeclarations":
                yield ToolSchema(key, "", {key: value})
                continue
            for declared in value:
                yield ToolSchema(declared.get("name", ""), declared.get("description", ""), _parameters(declared))


def declarations(tools: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The declared functions, each with its path below the request."""
    for n, tool in enumerate(tools):
        for m, declared in enumerate(tool.get("functionDeclarations") or ()):
            yield f"tools[{n}].function_declarations[{m}]", declared


def _parameters(declared: Mapping[str, Any]) -> dict[str, Any]:
    schema = declared.get("parametersJsonSchema")
    if isinstance(schema, dict):
        return schema
    read = json_schema(declared.get("parameters") or {})
    return read if isinstance(read, dict) else {}


def json_schema(schema: JSON) -> JSON:
    """An OpenAPI schema of this API as the JSON Schema that means the same."""
    if not isinstance(schema, dict):
        return schema
    read: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            read[key] = value.lower()
        elif key in _NAMES_OF_SCHEMAS and isinstance(value, dict):
            read[key] = {name: json_schema(inner) for name, inner in value.items()}
        elif key in ("items", "additionalProperties"):
            read[key] = json_schema(value)
        elif key == "anyOf":
            read[key] = [json_schema(inner) for inner in value]
        elif key not in ("nullable", "propertyOrdering"):
            read[key] = value
    if schema.get("nullable") is True and "type" in read:
        read["type"] = [read["type"], "null"]
    return read
