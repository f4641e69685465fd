"""Freedoms of the wire: a request that looks different, and that the service reads as the same."""

from __future__ import annotations

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


@right("texts-in-one-block", scenarios=(*_TEXTS, "media/*"))
class TextsInOneBlock(Rewriting):
    """Neighbouring texts of a user's message go out in one block."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for message in wire.messages(body):
            if wire.spoken_by_model(message):
                continue
            blocks = wire.blocks(message)
            for number in reversed(range(1, len(blocks))):
                first, second = blocks[number - 1 : number + 1]
                plain = all(wire.kind(one) == "text" and "cache_control" not in one for one in (first, second))
                if plain and isinstance(first.get("text"), str) and isinstance(second.get("text"), str):
                    blocks[number - 1 : number + 1] = [first | {"text": first["text"] + second["text"]}]


@right("schemas-closed", scenarios=("tools/*", "structured/*"), capability=("tools",), as_in=("openai-agents",))
class SchemasClosed(Rewriting):
    """`additionalProperties: false` is added to the schemas of tools, as strict tools want."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for tool in wire.tools(body):
            for holder in (tool, tool.get("function"), *(tool.get("functionDeclarations") or ())):
                for key in ("input_schema", "parameters", "parametersJsonSchema"):
                    schema = holder.get(key) if isinstance(holder, dict) else None
                    if isinstance(schema, dict) and schema.get("type") == "object":
                        schema["additionalProperties"] = False


@right("schemas-titled", scenarios=("tools/*",), capability=("tools",), as_in=("pydantic",))
class SchemasTitled(Rewriting):
    """Each schema of a tool has a title, and each property an empty description, as generated ones do."""

    def change_request(self, wire: Wire, body: Json) -> None:
        for tool in wire.tools(body):
            for holder in (tool, tool.get("function"), *(tool.get("functionDeclarations") or ())):
                for key in ("input_schema", "parameters", "parametersJsonSchema"):
                    schema = holder.get(key) if isinstance(holder, dict) else None
                    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict):
                        schema.setdefault("title", "Arguments")
                        for one in schema["properties"].values():
                            if isinstance(one, dict):
                                one.setdefault("description", "")


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
        return replace(request, body=msgspec.json.encode(_reversed(body, inside=False)))


def _reversed(value: object, *, inside: bool) -> object:
    """Arguments of calls and schemas keep their order: some services hash them."""
    if isinstance(value, list):
        return [_reversed(one, inside=inside) for one in value]
    if isinstance(value, dict) and not inside:
        return {
            key: _reversed(one, inside=key in ("input", "args", "response", "properties"))
            for key, one in reversed(value.items())
        }
    return value
