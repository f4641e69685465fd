"""Freedoms of schemas: where a constraint stands, and in which of several spellings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec.structs import replace as changed

from ..mutants import Broken, CallInputs
from ..mutants.schemas import Schema, at_every_level
from ._right import right


class _Respelled(Broken):
    """Says what the tools' schemas say in another way."""

    def respell(self, schema: Schema) -> None:
        """The whole schema, in place."""

    def change_inputs(self, inputs: CallInputs) -> CallInputs:
        tools = []
        for tool in inputs.tools or ():
            schema: Schema = msgspec.json.decode(msgspec.json.encode(tool.parameters))
            self.respell(schema)
            tools.append(changed(tool, parameters=schema))
        return replace(inputs, tools=tools) if tools else inputs


@right("schema-bounds-in-words")
class _SchemaBoundsInWords(_Respelled):
    """A bound that an API has no word for is in the description, as Anthropic's SDK does it."""

    def respell(self, schema: Schema) -> None:
        at_every_level(schema, self._in_words)

    def _in_words(self, schema: Schema) -> None:
        names = ("minimum", "maximum", "exclusiveMinimum", "minLength", "minItems", "pattern", "format", "default")
        if found := {name: schema.pop(name) for name in names if name in schema}:
            words = ", ".join(f"{name}: {value}" for name, value in found.items())
            schema["description"] = f"{schema.get('description', '')}\n\n{{{words}}}".strip()


@right("schema-references-inlined")
class _SchemaReferencesInlined(_Respelled):
    """What a reference leads to is in its place, and no definitions are sent."""

    def respell(self, schema: Schema) -> None:
        definitions: dict[str, Any] = schema.pop("$defs", {})
        at_every_level(schema, lambda one: self._inline(one, definitions))

    def _inline(self, schema: Schema, definitions: dict[str, Any]) -> None:
        if address := schema.pop("$ref", None):
            schema.update(definitions[address.rpartition("/")[2]])


@right("schema-null-as-a-union")
class _SchemaNullAsAUnion(_Respelled):
    """A type that may be null is spelled as `anyOf`, as Pydantic spells it."""

    def respell(self, schema: Schema) -> None:
        at_every_level(schema, self._spell)

    def _spell(self, schema: Schema) -> None:
        if isinstance(schema.get("type"), list):
            schema["anyOf"] = [{"type": one} for one in schema.pop("type")]
