"""Fields: unknown ones, missing ones, and values that break a field's own pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Refusal
from ...field_names import logged_if_unlisted
from .. import fields, rules
from ..conversation import Block, Placed, blocks_of
from . import images
from .context import Context, refuse

CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_LIMIT = 100_000


def check(context: Context) -> Iterator[Refusal]:
    """Everything a schema of the body would say."""
    yield from _body(context)
    yield from _tools(context)
    for n, block in enumerate(blocks_of(context.body.get("system"))):
        yield from _block(context, f"system.{n}", block, "system")
    for n, message in enumerate(context.messages):
        known = fields.SYSTEM_MESSAGE if message["role"] == "system" else fields.MESSAGE
        if not message.keys() <= known:
            yield from extra_fields(f"messages.{n}.", message, known)
        if "content" not in message and message["role"] != "system":
            yield refuse(rules.MISSING_FIELD, f"messages.{n}.content: Field required", f"messages.{n}.content")
    for turn in context.turns:
        for n, block in enumerate(turn.blocks):
            # Most blocks are plain texts: nothing can be wrong with their fields.
            if len(block) != 2 or "text" not in block:
                yield from _placed(context, turn.place(n), turn.role)


def _body(context: Context) -> Iterator[Refusal]:
    body = context.body
    if context.new_version:
        for field in fields.REMOVED_SAMPLING:
            if field in body and not context.counting:
                yield refuse(rules.REMOVED_SAMPLING, f"{field}: Extra inputs are not permitted", field)
    for field in sorted(body.keys() - fields.MESSAGE_BODY):
        yield _extra_field(field, field)
    if context.counting:
        for field in sorted(body.keys() & (fields.MESSAGE_BODY - fields.COUNT_BODY)):
            yield refuse(rules.COUNT_FIELD, f"{field}: Extra inputs are not permitted", field)
    if len(context.messages) > _LIMIT:
        message = f"messages: List should have at most {_LIMIT} items after validation, not {len(context.messages)}"
        yield refuse(rules.TOO_MANY_MESSAGES, message, "messages")


def _tools(context: Context) -> Iterator[Refusal]:
    for n, tool in enumerate(context.body.get("tools") or ()):
        if (tool.get("type") or "custom") != "custom":
            continue
        where = f"tools.{n}.custom"
        yield from extra_fields(f"{where}.", tool, fields.CUSTOM_TOOL)
        for field in ("name", "input_schema"):
            if field not in tool:
                yield refuse(rules.MISSING_FIELD, f"{where}.{field}: Field required", f"{where}.{field}")
        if "name" in tool and not TOOL_NAME.fullmatch(tool["name"]):
            message = f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            yield refuse(rules.TOOL_NAME_PATTERN, message, f"{where}.name")


def extra_fields(prefix: str, thing: Mapping[str, Any], known: frozenset[str]) -> Iterator[Refusal]:
    """A refusal for each field of an object that the API does not know there."""
    for field in thing:
        if field not in known:
            yield _extra_field(f"{prefix}{field}", field)


def _extra_field(where: str, name: str) -> Refusal:
    return logged_if_unlisted(refuse(rules.EXTRA_FIELD, f"{where}: Extra inputs are not permitted", where), name)


def _placed(context: Context, placed: Placed, role: str) -> Iterator[Refusal]:
    block = placed.block
    if block.get("type") == "tool_use":
        call_id = block.get("id")
        if isinstance(call_id, str) and not CALL_ID.fullmatch(call_id):
            where = f"{placed.path}.tool_use.id"
            yield refuse(rules.CALL_ID_PATTERN, f"{where}: String should match pattern '^[a-zA-Z0-9_-]+$'", where)
    yield from _block(context, placed.path, block, role)


def _block(context: Context, path: str, block: Block, role: str) -> Iterator[Refusal]:
    kind = block.get("type")
    if not isinstance(kind, str):
        yield refuse(rules.MISSING_FIELD, f"{path}.type: Field required", f"{path}.type")
        return
    known = fields.BLOCKS.get(kind)
    if known is None:
        return
    if kind == "thinking" and block.get("cache_control"):
        where = f"{path}.thinking.cache_control"
        yield refuse(rules.BREAKPOINT_ON_THINKING, f"{where}: Extra inputs are not permitted", where)
    elif not block.keys() <= known:
        yield from extra_fields(f"{path}.{kind}.", block, known)
    for field in fields.REQUIRED[kind]:
        if field not in block:
            yield refuse(rules.MISSING_FIELD, f"{path}.{kind}.{field}: Field required", f"{path}.{kind}.{field}")
    if kind == "text":
        yield from _text(context, path, block, role)
    elif kind in fields.SOURCE_TAGS:
        yield from _source(context, f"{path}.{kind}", kind, block)
        if kind == "document" and role == "assistant" and context.new_version:
            yield refuse(
                rules.ASSISTANT_DOCUMENT, f"{path}: document blocks are not permitted in assistant messages", path
            )
    elif kind == "tool_result" and isinstance(block.get("content"), list):
        for n, item in enumerate(block["content"]):
            if isinstance(item, dict):
                yield from _block(context, f"{path}.tool_result.content.{n}", item, "tool_result")


def _text(context: Context, path: str, block: Block, role: str) -> Iterator[Refusal]:
    if block.get("cache_control") and block.get("text") == "":
        where = f"{path}.text"
        yield refuse(
            rules.BREAKPOINT_ON_EMPTY_TEXT, f"{where}: cache_control cannot be set for empty text blocks", where
        )
    if role == "user" and context.new_version and block.get("citations"):
        where = f"{path}.text.citations"
        yield refuse(rules.USER_CITATIONS, f"{where}: citations are not permitted in user text blocks", where)


def _source(context: Context, path: str, kind: str, block: Block) -> Iterator[Refusal]:
    source = block.get("source")
    if not isinstance(source, dict):
        return
    tag = source.get("type")
    known = fields.SOURCE_TAGS[kind]
    if tag == "file" and (context.new_version or fields.FILES_BETA in context.betas):
        return
    if tag not in known:
        names = ", ".join(repr(each) for each in known)
        message = (
            f"{path}.source: Input tag '{tag}' found using 'type' does not match any of the expected tags: {names}"
        )
        yield refuse(rules.SOURCE_TAG, message, f"{path}.source")
        return
    yield from extra_fields(f"{path}.source.{tag}.", source, fields.SOURCES[tag])
    if kind == "image" and tag == "base64":
        yield from images.check(path, source)
    elif tag == "url" and str(source.get("url")) in context.world.unreachable_urls:
        message = "Unable to download the file. Please verify the URL and try again."
        yield refuse(rules.UNREACHABLE_URL, message, f"{path}.source.url")
