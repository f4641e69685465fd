"""Items to neutral parts: the same reading for requests and for answers.

What no part names becomes `Opaque`, verbatim. A call whose arguments are no JSON object has them in its provider data.
Ids of items are left behind: they may go back or not, and say nothing to the model (who needs them looks at
`ResponsesCall.items`).
A value of another type than the API allows raises `Unreadable`, which a request turns into a refusal and an answer into
an `Opaque` part.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace as with_fields

from ...messages import (
    JSON,
    CacheMark,
    FileRef,
    FunctionCall,
    InlineData,
    Opaque,
    Part,
    ProviderData,
    Text,
    Thought,
    ToolResult,
)
from ..lenient_reading import json_of
from .rules import NAME
from .surfaces import Item

_IMAGE, _FILE = "image/*", "application/octet-stream"
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}


class Unreadable(Exception):
    """A value has another JSON type than the field allows. `where` is the path below the item."""

    def __init__(self, where: str, expected: str, value: JSON) -> None:
        super().__init__(where)
        self.where = where
        self.expected = expected
        self.value = value


def kind_of(item: Item) -> str:
    """The type of an item; a message need not name it, nor a reference."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if "role" in item else "item_reference" if set(item) == {"id"} else ""


def id_of(item: Item) -> str | None:
    """The id of an item, if it has one."""
    found = item.get("id")
    return found if isinstance(found, str) and found else None


def parts_of(item: Item, model: str, names: Mapping[str, str] | None = None) -> tuple[Part, ...]:
    """One item as parts. `names` gives the tool name of each call id seen so far, for outputs."""
    match kind_of(item):
        case "message":
            return tuple(_content(item))
        case "function_call":
            return (_call(item),)
        case "function_call_output":
            return (_output(item, names or {}),)
        case "reasoning":
            return (_reasoning(item, model),)
        case kind:
            return (Opaque(NAME, kind, dict(item)),)


def read_item(item: Item, model: str) -> tuple[Part, ...]:
    """As `parts_of`, for answers: what cannot be read is kept as it is."""
    try:
        return parts_of(item, model)
    except Unreadable:
        return (Opaque(NAME, kind_of(item), dict(item)),)


def is_refusal(item: Item) -> bool:
    """Whether the model declines in this message."""
    content = item.get("content")
    return isinstance(content, list) and any(
        isinstance(each, dict) and each.get("type") == "refusal" for each in content
    )


def arguments_of(item: Item) -> dict[str, Any] | None:
    """The arguments of a call, if they are a JSON object; blank ones are an empty one."""
    text = item.get("arguments", "")
    if not isinstance(text, str):
        return None
    found = json_of(text) if text.strip() else {}
    return found if isinstance(found, dict) else None


def _string(thing: Mapping[str, Any], name: str, where: str = "") -> str:
    value = thing.get(name, "")
    if not isinstance(value, str):
        raise Unreadable(where or name, "a string", value)
    return value


def _objects(value: JSON, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise Unreadable(where, "an array of objects", value)
    for n, each in enumerate(value):
        if not isinstance(each, dict):
            raise Unreadable(f"{where}[{n}]", "an object", each)
    return value


def _content(item: Item) -> Iterator[Part]:
    content = item.get("content", "")
    if isinstance(content, str):
        if content:
            yield Text(content)
        return
    if not isinstance(content, list):
        raise Unreadable("content", "one of an array of objects or string", content)
    for n, block in enumerate(_objects(content, "content")):
        part = _block(block, f"content[{n}]")
        is_marked = isinstance(block.get("prompt_cache_breakpoint"), dict)
        yield with_fields(part, cache=CacheMark()) if is_marked else part


def _block(block: Mapping[str, Any], where: str) -> Part:
    kind = block.get("type")
    if isinstance(kind, str) and (member := _TEXTS.get(kind)):
        return Text(_string(block, member, f"{where}.{member}"))
    match block:
        case {"type": "input_image", "image_url": str(url)}:
            return _media(url, _IMAGE) or Opaque(NAME, "input_image", dict(block))
        case {"type": "input_image", "file_id": str(file)}:
            return FileRef(_IMAGE, file)
        case {"type": "input_file", "file_data": str(url)}:
            return _media(url, _FILE) or Opaque(NAME, "input_file", dict(block))
        case {"type": "input_file", "file_url": str(place)} | {"type": "input_file", "file_id": str(place)}:
            return FileRef(_FILE, place)
        case _:
            return Opaque(NAME, str(kind or ""), dict(block))


def _media(url: str, kind: str) -> InlineData | FileRef | None:
    """The bytes of a `data:` URL, or a reference to anything else; None where the bytes cannot be read."""
    if not url.startswith("data:"):
        return FileRef(kind, url)
    head, _, encoded = url.removeprefix("data:").partition(",")
    try:
        return InlineData(head.split(";", 1)[0] or kind, b64decode(encoded, validate=True))
    except (Base64Error, ValueError):
        return None


def _call(item: Item) -> Part:
    if not isinstance(item.get("arguments", ""), str):
        raise Unreadable("arguments", "a string", item["arguments"])
    call_id, name, args = _string(item, "call_id"), _string(item, "name"), arguments_of(item)
    if args is None:
        return FunctionCall(call_id, name, provider_data=ProviderData(NAME, "", {"arguments": item["arguments"]}))
    return FunctionCall(call_id, name, args)


def _output(item: Item, names: Mapping[str, str]) -> Part:
    call_id = _string(item, "call_id")
    output = item.get("output", "")
    if isinstance(output, str):
        return ToolResult(call_id, names.get(call_id, ""), output)
    if not isinstance(output, list):
        raise Unreadable("output", "one of an array of objects or string", output)
    read = [_block(block, f"output[{n}]") for n, block in enumerate(_objects(output, "output"))]
    texts = [part.text for part in read if isinstance(part, Text)]
    attached = tuple(part for part in read if isinstance(part, InlineData | FileRef))
    others = [dict(part.data) for part in read if isinstance(part, Opaque)]
    data = ProviderData(NAME, "", {"output": others}) if others else None
    return ToolResult(
        call_id, names.get(call_id, ""), "".join(texts) if texts else None, attachments=attached, provider_data=data
    )


def _reasoning(item: Item, model: str) -> Part:
    texts = item.get("content") or item.get("summary") or []
    where = "content" if item.get("content") else "summary"
    text = "\n\n".join(_string(each, "text", f"{where}[{n}].text") for n, each in enumerate(_objects(texts, where)))
    encrypted = item.get("encrypted_content")
    if not isinstance(encrypted, str | None):
        raise Unreadable("encrypted_content", "a string", encrypted)
    return Thought(text, provider_data=ProviderData(NAME, model, {"encrypted": encrypted}) if encrypted else None)
