"""Adapters that weaken the schemas of tools and answers in silence, as conversions to another API's form do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
from msgspec.structs import replace as changed

from ._broken import Broken, CallInputs
from ._mutant import suite_mutant

Schema = dict[str, Any]


class _Weakened(Broken):
    """Changes every level of the tools' schemas."""

    def weaken(self, schema: Schema) -> None:
        """One level, in place."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if not inputs.tools:
            return inputs
        return replace(inputs, tools=[changed(one, parameters=self._whole(one.parameters)) for one in inputs.tools])

    def _whole(self, schema: Any) -> Schema:
        copy: Schema = msgspec.json.decode(msgspec.json.encode(schema))
        at_every_level(copy, self.weaken)
        return copy


def at_every_level(schema: Schema, change: Callable[[Schema], None]) -> None:
    """Change a schema and every one in it, in place."""
    change(schema)
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    for one in (*inner, schema.get("items")):
        if isinstance(one, dict):
            at_every_level(one, change)


def without(schema: Schema, *names: str) -> None:
    """Take members out of a schema."""
    for name in names:
        schema.pop(name, None)


@suite_mutant("schema-enums-dropped")
class SchemaEnumsDropped(_Weakened):
    """Enumerations are lost: any text will do."""

    def weaken(self, schema: Schema) -> None:
        without(schema, "enum")


@suite_mutant("schema-bounds-dropped")
class SchemaBoundsDropped(_Weakened):
    """Bounds of numbers, lengths and lists are lost."""

    def weaken(self, schema: Schema) -> None:
        without(schema, "minimum", "maximum", "exclusiveMinimum", "minLength", "minItems", "pattern")


@suite_mutant("schema-references-unresolved")
class SchemaReferencesUnresolved(_Weakened):
    """The definitions are lost that a reference leads to: what it stands for may be anything."""

    def weaken(self, schema: Schema) -> None:
        without(schema, "$defs")
        if schema.pop("$ref", None):
            schema["type"] = "object"


@suite_mutant("schema-unions-cut")
class SchemaUnionsCut(_Weakened):
    """Of several kinds of value that a parameter may have the first is declared."""

    def weaken(self, schema: Schema) -> None:
        if branches := schema.pop("anyOf", None):
            schema.update(branches[0])


@suite_mutant("schema-null-dropped")
class SchemaNullDropped(_Weakened):
    """A parameter that may be null may not any more."""

    def weaken(self, schema: Schema) -> None:
        if isinstance(schema.get("type"), list):
            schema["type"] = schema["type"][0]


@suite_mutant("schema-nested-required-dropped")
class SchemaNestedRequiredDropped(_Weakened):
    """What a nested object must have is optional."""

    def weaken(self, schema: Schema) -> None:
        if "bed" not in schema.get("properties", {}):
            without(schema, "required")


@suite_mutant("schema-nested-descriptions-dropped")
class SchemaNestedDescriptionsDropped(_Weakened):
    """Parameters have no descriptions."""

    def weaken(self, schema: Schema) -> None:
        without(schema, "description")


@suite_mutant("schema-defaults-dropped")
class SchemaDefaultsDropped(_Weakened):
    """Defaults and formats are lost."""

    def weaken(self, schema: Schema) -> None:
        without(schema, "default", "format")


@suite_mutant("answer-schema-types-dropped")
class AnswerSchemaTypesDropped(Broken):
    """The schema for the answer names its properties, and not their types."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        if inputs.schema is None:
            return inputs
        schema: Schema = msgspec.json.decode(msgspec.json.encode(inputs.schema))
        for one in schema.get("properties", {}).values():
            one["type"] = "string"
        return replace(inputs, schema=schema)
