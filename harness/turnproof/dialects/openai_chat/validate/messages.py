"""Messages one by one: their roles, contents, and the ids and names of calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Refusal
from ...openai_values import image_fault
from .. import rules
from ..errors import ChatRefusal
from ..models import LONGEST_ID, NO_SYSTEM
from .context import Context
from .settings import empty, name, too_long


def check(context: Context) -> Iterator[Refusal]:
    """Rules about messages as such, pairing of calls and results aside."""
    if not context.messages:
        yield empty(context, "messages")
    for n, message in enumerate(context.messages):
        yield from _role(context, message["role"], n)
        yield from _content(context, message, n)
        yield from _calls(context, message, f"messages[{n}].tool_calls")


def images(context: Context) -> Iterator[Refusal]:
    """Images must be base64, or within the reach of the service, which fetches them itself."""
    for n, message in enumerate(context.messages):
        content = message.get("content")
        for m, block in enumerate(content if isinstance(content, list) else ()):
            url = block["image_url"].get("url") if isinstance(block.get("image_url"), dict) else None
            if (fault := image_fault(url)) is not None:
                path = f"messages[{n}].content[{m}].image_url.url"
                words = f"Invalid image URL: '{path}'. {fault}"
                yield context.refuse(rules.IMAGE_DATA, "invalid_value", words, path)
            if isinstance(url, str) and url in context.world.unreachable_urls:
                words = f"Error while downloading {url}."
                yield context.refuse(rules.UNREACHABLE_IMAGE, "invalid_image_url", words)


def check_zai(context: Context) -> Iterator[Refusal]:
    """What Z.ai's own endpoint requires: a message of the user, and no forced tool. It is not known to check pairs."""
    if all(message["role"] in ("system", "developer") for message in context.messages):
        words = "The messages parameter is illegal. Please check the documentation."
        yield ChatRefusal(rules.ZAI_PARAMETER, 400, "1214", words, "$.messages", surface=context.surface)
    if context.body.get("tool_choice") not in (None, "auto"):
        yield context.refuse(rules.ZAI_TOOL_CHOICE, "1210", "", "tool_choice")


def _role(context: Context, role: str, n: int) -> Iterator[Refusal]:
    if role == "system" and context.has(NO_SYSTEM):
        path = f"messages[{n}].role"
        message = f"Unsupported value: '{path}' does not support 'system' with this model."
        yield context.refuse(rules.SYSTEM_UNSUPPORTED, "unsupported_value", message, path)


def _content(context: Context, message: Mapping[str, Any], n: int) -> Iterator[Refusal]:
    content = message.get("content")
    speaks = message["role"] == "assistant" and (message.get("refusal") or message.get("audio"))
    calls = message["role"] == "assistant" and (message.get("tool_calls") or message.get("function_call"))
    if content is None and not (speaks or calls):
        words = "Invalid value for 'content': expected a string, got null."
        yield context.refuse(rules.NULL_CONTENT, "invalid_request_error", words, f"messages.[{n}].content")
    blocks = content if message["role"] == "tool" and isinstance(content, list) else ()
    if any(block.get("type") not in ("text", "image_url") for block in blocks):
        path = f"messages[{n}]"
        words = f"Invalid '{path}'. Content blocks are expected to be either text or image_url type."
        yield context.refuse(rules.TOOL_CONTENT, "invalid_value", words, path)


def _calls(context: Context, message: Mapping[str, Any], path: str) -> Iterator[Refusal]:
    calls = message.get("tool_calls")
    if calls == []:
        yield empty(context, path)
    for m, call in enumerate(calls or ()):
        if len(call.get("id", "")) > LONGEST_ID:
            yield too_long(context, rules.CALL_ID_LENGTH, call["id"], LONGEST_ID, f"{path}[{m}].id")
        if isinstance(function := call.get("function"), dict):
            yield from name(context, function.get("name", ""), f"{path}[{m}].function.name")
