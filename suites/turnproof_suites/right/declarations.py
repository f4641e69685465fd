"""Freedoms of declared tools: additions to their schemas, their order, and what is said of them by default."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ..mutants import Rewriting, Wire
from ..mutants._wire import Json
from ._body import OfEachAPI
from ._right import right


@right("schemas-closed")
class _SchemasClosed(Rewriting):
    """`additionalProperties: false` is added to the schemas of tools, as strict tools want."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            schema["additionalProperties"] = False


@right("schemas-titled")
class _SchemasTitled(Rewriting):
    """Each schema of a tool has a title, and each property an empty description, as generated ones may have."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            schema.setdefault("title", "Arguments")
            for parameter in schema.get("properties", {}).values():
                parameter.setdefault("description", "")


@right("schemas-with-their-dialect")
class _SchemasWithTheirDialect(Rewriting):
    """Each schema of a tool names the draft of JSON Schema that it is written in."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            schema.setdefault("$schema", "http://json-schema.org/draft-07/schema#")


@right("schemas-list-what-is-required")
class _SchemasListWhatIsRequired(Rewriting):
    """A schema that requires nothing says so with an empty list."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            schema.setdefault("required", [])


@right("optional-parameters-nullable")
class _OptionalParametersNullable(Rewriting):
    """A parameter that may be left out is marked as nullable, as a library knows no other mark of one."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            for name, parameter in schema.get("properties", {}).items():
                if name not in schema.get("required", ()):
                    parameter.setdefault("nullable", True)


@right("tools-not-strict")
class _ToolsNotStrict(OfEachAPI):
    """Each function says that it is not strict, which is what its silence means."""

    def change_chat(self, body: Json) -> None:
        for tool in body.get("tools", ()):
            tool["function"].setdefault("strict", False)


@right("tools-sorted")
class _ToolsSorted(Rewriting):
    """Tools are declared in the order of their names."""

    def change_request(self, wire: Wire, body: Json) -> None:
        tools = wire.tools(body)
        tools.sort(key=lambda tool: msgspec.json.encode(tool, order="sorted"))


_PARAMETERS = ("input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema")
"""Where the APIs have the schema of a tool, by whatever spelling they take."""


def _parameters(wire: Wire, body: Json) -> Iterator[Json]:
    """The schemas of the parameters of all declared tools: the body's own objects, to be changed in place."""
    for tool in wire.tools(body):
        holder = tool.get("function", tool)
        yield from (holder[key] for key in _PARAMETERS if isinstance(holder.get(key), dict))


@right("a-tool-for-each-declaration")
class _ToolForEachDeclaration(OfEachAPI):
    """Each function is declared in a list of its own: the service takes several."""

    def change_gemini(self, body: Json) -> None:
        tools = []
        for tool in body.get("tools", ()):
            for name in ("functionDeclarations", "function_declarations"):
                tools += [{name: [one]} for one in tool.get(name, ())]
        if tools:
            body["tools"] = tools
