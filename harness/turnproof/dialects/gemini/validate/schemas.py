"""What the service refuses in a schema of parameters: its own kind of schema, which is an excerpt of OpenAPI.

A schema that has choices (`anyOf`) is judged only in them: what may stand beside choices nobody has shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Rule
from .. import rules


def schema_faults(schema: Mapping[str, Any], path: str) -> Iterator[tuple[Rule, str, str]]:
    """Each fault of a schema and of those in it: the rule, the path, and the problem in the words of the service."""
    choices = schema.get("anyOf") or ()
    if not choices:
        yield from _own_faults(schema, path)
    for name, inner in (schema.get("properties") or {}).items():
        yield from schema_faults(inner, f"{path}.properties[{name}]")
    if schema.get("items"):
        yield from schema_faults(schema["items"], f"{path}.items")
    for n, inner in enumerate(choices):
        yield from schema_faults(inner, f"{path}.any_of[{n}]")


def _own_faults(schema: Mapping[str, Any], path: str) -> Iterator[tuple[Rule, str, str]]:
    kind = str(schema.get("type") or "").upper()
    properties = schema.get("properties") or {}
    for n, name in enumerate(schema.get("required") or ()):
        if name not in properties:
            yield rules.SCHEMA_REQUIRED, f"{path}.required[{n}]", "property is not defined"
    if kind == "ARRAY" and not schema.get("items"):
        yield rules.SCHEMA_ITEMS, f"{path}.items", "missing field."
    if schema.get("enum") and kind not in ("", "STRING"):
        yield rules.SCHEMA_ENUM, f"{path}.enum", "only allowed for STRING type"
