"""Requests to the Anthropic-compatible surface in neutral form, and what of their bodies is refused.

The server turns such a request into one of its own before it does anything else, and says what it cannot turn.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from ...messages import JSON
from ..anthropic_messages.conversation import Block, blocks_of
from ..anthropic_messages.request import Malformed, call_of
from ..base import Refusal
from . import rules
from .errors import refuse
from .surfaces import OllamaCall, Surface

_SURFACE = Surface.MESSAGES


def read(body: Mapping[str, Any]) -> OllamaCall | Refusal:
    """The call, or the first refusal of a body that cannot be turned into one."""
    if (refusal := next(_refusals(body), None)) is not None:
        return refusal
    try:
        call = call_of("generate", {**body, "messages": _with_known_roles(body["messages"])}, rules.NAME)
    except Malformed as error:
        return refuse(_SURFACE, rules.UNREADABLE_BODY, f"json: {error.message}", error.path)
    return OllamaCall(**{each.name: getattr(call, each.name) for each in fields(call)})


def _with_known_roles(messages: JSON) -> JSON:
    """The messages with the two roles that Anthropic's format has: the server takes any other as it is."""
    if not isinstance(messages, list):
        return messages
    known = ("user", "assistant", "system")
    return [
        {**each, "role": "user"} if isinstance(each, dict) and each.get("role") not in known else each
        for each in messages
    ]


def _refusals(body: Mapping[str, Any]) -> Iterator[Refusal]:
    limit, messages = body.get("max_tokens"), body.get("messages")
    if not body.get("model"):
        yield refuse(_SURFACE, rules.MISSING_MODEL, "model is required", "$.model")
    if limit is not None and type(limit) is not int:
        message = "json: cannot unmarshal value into Go struct field MessagesRequest.max_tokens of type int"
        yield refuse(_SURFACE, rules.UNREADABLE_BODY, message, "$.max_tokens")
    elif (limit or 0) <= 0:
        yield refuse(_SURFACE, rules.MISSING_LIMIT, "max_tokens is required and must be positive", "$.max_tokens")
    if not messages:
        yield refuse(_SURFACE, rules.MISSING_MESSAGES, "messages is required", "$.messages")
    if isinstance(messages, list):
        for n, message in enumerate(messages):
            content = message.get("content") if isinstance(message, dict) else None
            for m, block in enumerate(blocks_of(content)):
                if isinstance(block, dict):
                    yield from _block(block, f"$.messages[{n}].content[{m}]")
    for n, tool in enumerate(body.get("tools") or ()):
        schema = tool.get("input_schema") if isinstance(tool, dict) else None
        if schema is not None and not isinstance(schema, dict):
            message = f'invalid input_schema for tool "{tool.get("name", "")}": json: cannot unmarshal'
            yield refuse(_SURFACE, rules.INPUT_SCHEMA, message, f"$.tools[{n}].input_schema")


def _block(block: Block, path: str) -> Iterator[Refusal]:
    match block.get("type"):
        case "image":
            yield from _image(block.get("source"), "invalid image source", path)
        case "tool_use":
            if not block.get("id"):
                yield refuse(_SURFACE, rules.CALL_WITHOUT_ID, "tool_use block missing required 'id' field", path)
            if not block.get("name"):
                yield refuse(_SURFACE, rules.CALL_WITHOUT_NAME, "tool_use block missing required 'name' field", path)
        case "tool_result" if isinstance(block.get("content"), list):
            for item in block["content"]:
                if isinstance(item, dict) and item.get("type") == "image":
                    yield from _image(item.get("source"), "invalid tool_result image source", path)


def _image(source: JSON, missing: str, path: str) -> Iterator[Refusal]:
    if not isinstance(source, dict):
        yield refuse(_SURFACE, rules.IMAGE_SOURCE, missing, path)
        return
    if source.get("type") != "base64":
        kind = source.get("type") or ""
        message = f"invalid image source type: {kind}. Only base64 images are supported."
        yield refuse(_SURFACE, rules.IMAGE_SOURCE, message, path)
        return
    try:
        b64decode(str(source.get("data") or ""), validate=True)
    except (Base64Error, ValueError):
        message = "invalid base64 image data: illegal base64 data at input byte 0"
        yield refuse(_SURFACE, rules.IMAGE_SOURCE, message, path)
