"""Freedoms of the wire: a request that looks different, and that the service reads as the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import msgspec

from turnproof.dialects.base import HttpRequest

from ..mutants import Rewriting, Wire
from ..mutants._wire import Json
from ._right import right

_TEXTS = ("basics/*", "cancel/*", "faults/*", "gc/tool_pairs")


@right("texts-in-two-blocks", scenarios=(*_TEXTS, "media/*"))
class TextsInTwoBlocks(Rewriting):
    """A user's text goes out in two text blocks; every API joins the blocks of a message."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            if wire.spoken_by_model(message):
                continue
            blocks = wire.blocks(message)
            for number, block in reversed(list(enumerate(blocks))):
                text = block.get("text")
                # A block with a cache breakpoint ends a prefix: it stays whole.
                if wire.kind(block) != "text" or not isinstance(text, str) or "cache_control" in block:
                    continue
                border = text.find(" ", len(text) // 2)
                if 0 < border < len(text) - 1 and text[border + 1 :].strip():
                    blocks[number : number + 1] = [block | {"text": text[:border]}, wire.text_block(text[border:])]


@right("schemas-closed", scenarios=("tools/*", "structured/*"), capability=("tools",))
class SchemasClosed(Rewriting):
    """`additionalProperties: false` is added to the schemas of tools, as strict tools want."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            schema["additionalProperties"] = False


@right("schemas-titled", scenarios=("tools/*",), capability=("tools",))
class SchemasTitled(Rewriting):
    """Each schema of a tool has a title, and each property an empty description, as generated ones may have."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for schema in _parameters(wire, body):
            schema.setdefault("title", "Arguments")
            for parameter in schema.get("properties", {}).values():
                parameter.setdefault("description", "")


_PARAMETERS = ("input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema")
"""Where the APIs have the schema of a tool, by whatever spelling they take."""


def _parameters(wire: Wire, body: Json) -> Iterator[Json]:
    """The schemas of the parameters of all declared tools: the body's own objects, to be changed in place."""
    for tool in wire.tools(body):
        holder = tool.get("function", tool)
        yield from (holder[key] for key in _PARAMETERS if isinstance(holder.get(key), dict))


@right("tools-sorted", scenarios=("tools/*",), capability=("tools",))
class ToolsSorted(Rewriting):
    """Tools are declared in the order of their names."""

    def change_request(self, wire: Wire, body: Json) -> None:
        tools = wire.tools(body)
        tools.sort(key=lambda tool: msgspec.json.encode(tool, order="sorted"))


@right("keys-reversed", scenarios=("basics/*", "tools/*"))
class KeysReversed(Rewriting):
    """The members of every JSON object go out in the opposite order: their order means nothing."""

    def change_http_request(self, wire: Wire, request: HttpRequest) -> HttpRequest:
        body = msgspec.json.decode(request.body)
        return replace(request, body=msgspec.json.encode(_with_keys_reversed(body)))


_KEEPING_ORDER = ("args", "input", "properties", "response")
"""Members whose objects are a model's or a user's own data: they stay as they are."""


def _with_keys_reversed(value: object) -> object:
    if isinstance(value, list):
        return [_with_keys_reversed(item) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key in _KEEPING_ORDER and isinstance(item, dict) else _with_keys_reversed(item)
            for key, item in reversed(value.items())
        }
    return value
