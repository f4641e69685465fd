"""Messages one by one: their roles, contents, and the ids and names of calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...base import Refusal, Rule
from ...base64_text import decode_base64
from ...lenient_reading import json_of
from ...openai_values import image_fault
from .. import ollama_words, rules
from ..errors import ChatRefusal
from ..models import LONGEST_ID, NO_SYSTEM
from .context import Context
from .settings import empty, name, too_long

_OLLAMA_IMAGE = re.compile(r"data:(image/(jpeg|jpg|png|webp))?;base64,")


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


def check_ollama(context: Context) -> Iterator[Refusal]:
    """What Ollama's middleware refuses before it looks at the model. It checks neither roles nor pairs."""
    if not context.messages:
        yield _invalid(context, rules.OLLAMA_NO_MESSAGES, ollama_words.NO_MESSAGES, "messages")
    for n, message in enumerate(context.messages):
        content, calls, path = message.get("content"), message.get("tool_calls"), f"messages[{n}]"
        if content is None and calls is None:
            words = f"invalid message content type: {ollama_words.printed_type(content)}"
            yield _invalid(context, rules.OLLAMA_CONTENT, words, f"{path}.content")
        for m, block in enumerate(content if isinstance(content, list) else ()):
            yield from _ollama_block(context, block, f"{path}.content[{m}]")
        for m, call in enumerate(calls or ()):
            function = call.get("function")
            if isinstance(function, dict) and not isinstance(json_of(function.get("arguments") or ""), dict):
                where = f"{path}.tool_calls[{m}].function.arguments"
                yield _invalid(context, rules.OLLAMA_ARGUMENTS, "invalid tool call arguments", where)


def _ollama_block(context: Context, block: Mapping[str, Any], path: str) -> Iterator[Refusal]:
    match block:
        case {"type": "text", "text": str()} | {"type": "input_audio"}:
            return  # Sounds are newer than the source that was read.
        case {"type": "image_url", "image_url": {"url": str(url)} | str(url)}:
            found = _OLLAMA_IMAGE.match(url)
            if found is None:
                yield _invalid(context, rules.OLLAMA_IMAGE, "invalid image input", path)
            elif decode_base64(url[found.end() :]) is None:
                yield _invalid(context, rules.OLLAMA_CONTENT, "invalid message format", path)
        case _:
            yield _invalid(context, rules.OLLAMA_CONTENT, "invalid message format", path)


def _invalid(context: Context, rule: Rule, words: str, path: str) -> Refusal:
    return context.refuse(rule, "invalid_request_error", words, path)


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
