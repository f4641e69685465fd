"""Conversations in semantic-kernel's messages. A message is its role and items, each the name of a class and its
arguments, so that a call and the source of a call have the same ones. The library is not imported here.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import errors, messages
from turnproof.messages import FunctionCall, Message, Part, Text, ToolSchema

from .chat_messages import chat_tool
from .result_texts import result_text

Item = tuple[str, dict[str, Any]]


def written_messages(history: Sequence[Message], system: Any) -> Iterator[tuple[str, list[Item]]]:
    """The conversation. Each result is a message of its own, as the library's kernel adds them."""
    if text := getattr(system, "text", system):
        yield "system", [("TextContent", {"text": text})]
    for message in history:
        if message.role == "tool":
            for result in message.results:
                text = result_text(result.result)
                text = f"Error: {text}" if result.is_error else text  # there is no mark for a tool that failed
                arguments = {"id": result.call_id, "name": result.name, "result": text}
                yield "tool", [("FunctionResultContent", arguments)]
        else:
            role = "assistant" if message.role == "model" else message.role
            yield role, [item for part in message.parts for item in _items(part)]


def _items(part: Part) -> Iterator[Item]:
    match part:
        case Text(text=text):
            yield "TextContent", {"text": text}
        case FunctionCall(id=id, name=name, args=args):
            arguments = json.dumps(messages.thaw(args), ensure_ascii=False)
            yield "FunctionCallContent", {"id": id, "name": name, "arguments": arguments}
        case messages.InlineData(mime_type=kind, data=data):
            yield "ImageContent", {"data_uri": f"data:{kind};base64,{base64.b64encode(data).decode()}"}
        case messages.FileRef(uri=uri):
            yield "ImageContent", {"uri": uri}


def read_items(items: Sequence[Any], *, cut: bool) -> Iterator[Part]:
    """The parts of a message of the library: a message has no order of text and calls.

    Raises TransportError for arguments that are no object. Where the answer was cut, that call did not arrive.
    """
    yield from (Text(item.text) for item in items if item.content_type == "text" and item.text)
    for item in items:
        if item.content_type != "function_call":
            continue
        try:
            arguments = json.loads(item.arguments or "{}")
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            yield FunctionCall(item.id, item.name, arguments)
        elif not cut:
            raise errors.TransportError(f"the arguments of {item.name} are no object: {item.arguments!r:.80}")


def call_settings(options: Mapping[str, Any], tools: Sequence[ToolSchema] | None) -> dict[str, Any]:
    """The arguments of the library's settings for one call."""
    found: dict[str, Any] = {"tools": [chat_tool(tool) for tool in tools]} if tools else {}
    return found | ({"max_completion_tokens": options["max_tokens"]} if "max_tokens" in options else {})


def token_usage(usage: Any) -> messages.TokenUsage:
    """The tokens of an answer; none where the library reports none."""
    if usage is None:
        return messages.TokenUsage()
    prompt, output = usage.prompt_tokens or 0, usage.completion_tokens or 0
    read = getattr(usage.prompt_tokens_details, "cached_tokens", None) or 0
    thinking = getattr(usage.completion_tokens_details, "reasoning_tokens", None) or 0
    return messages.TokenUsage(prompt, output, prompt + output, read, 0, thinking)
