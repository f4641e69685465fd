"""Conversations in the shape of chat completions, which several libraries take for every provider.

What a library adds to a message of the model (thinking, signatures) is its own, and comes from the caller.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from turnproof import messages

from .result_texts import result_text

Additions = Callable[[messages.Message], dict[str, Any]]
"""What a library adds to the dict of a message of the model."""

FINISH = {"stop": "stop", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "safety"}


def chat_messages(history: Sequence[messages.Message], system: Any, additions: Additions) -> Iterator[dict[str, Any]]:
    """The conversation as dicts, the system text first."""
    if system:
        yield {"role": "system", "content": getattr(system, "text", system)}
    for message in history:
        match message.role:
            case "system":
                yield {"role": "system", "content": message.text}
            case "user":
                yield {"role": "user", "content": _content(message.parts)}
            case "tool":
                yield from map(_tool_message, message.results)
            case "model":
                yield _assistant(message) | additions(message)


def chat_tool(tool: messages.ToolSchema) -> dict[str, Any]:
    """The definition of a function."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": messages.thaw(tool.parameters)},
    }


def chat_call(call: messages.FunctionCall) -> dict[str, Any]:
    """A call of a message of the model."""
    arguments = json.dumps(messages.thaw(call.args), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def calls_of(message: Any, *, cut: bool) -> Iterator[tuple[messages.FunctionCall, Any]]:
    """The calls of a library's message, each with the library's own object.

    Raises ValueError for arguments that are no object. Where the answer was cut, a call whose arguments do not parse is
    one that did not arrive.
    """
    for call in message.tool_calls or ():
        try:
            arguments = json.loads(call.function.arguments or "{}")
            if not isinstance(arguments, dict):
                raise ValueError(f"the arguments of {call.function.name} are no object: {arguments!r:.80}")
        except ValueError:
            if cut:
                continue
            raise
        yield messages.FunctionCall(call.id, call.function.name, arguments), call


def chat_usage(usage: Any) -> messages.TokenUsage:
    """The tokens of an answer; none where the library reports none."""
    if usage is None:
        return messages.TokenUsage()
    prompt, output = usage.prompt_tokens or 0, usage.completion_tokens or 0
    read = getattr(usage.prompt_tokens_details, "cached_tokens", None) or 0
    written = getattr(usage, "cache_creation_input_tokens", None) or 0
    thinking = getattr(usage.completion_tokens_details, "reasoning_tokens", None) or 0
    return messages.TokenUsage(prompt, output, usage.total_tokens or prompt + output, read, written, thinking)


def finish_reason(word: str | None, *, refused: bool = False) -> messages.FinishReason:
    """The neutral reason for a word of chat completions."""
    return messages.FinishReason.REFUSAL if refused else messages.FinishReason(FINISH.get(word or "", "unknown"))


def _assistant(message: messages.Message) -> dict[str, Any]:
    content = {"role": "assistant", "content": message.text or None}
    return content | ({"tool_calls": [chat_call(call) for call in message.calls]} if message.calls else {})


def _tool_message(result: messages.ToolResult) -> dict[str, Any]:
    text = result_text(result.result)
    text = f"Error: {text}" if result.is_error else text  # chat completions have no other mark of a failure
    content = _content((messages.Text(text), *result.attachments))
    return {"role": "tool", "tool_call_id": result.call_id, "name": result.name, "content": content}


def _content(parts: Sequence[messages.Part]) -> str | list[dict[str, Any]]:
    if len(parts) == 1 and isinstance(parts[0], messages.Text):
        return parts[0].text
    return [_block(part) for part in parts]


def _block(part: messages.Part) -> dict[str, Any]:
    match part:
        case messages.Text(text=text):
            return {"type": "text", "text": text}
        case messages.InlineData(mime_type=kind, data=data):
            return _media(kind, f"data:{kind};base64,{base64.b64encode(data).decode()}", "file_data")
        case messages.FileRef(mime_type=kind, uri=uri):
            return _media(kind, uri, "file_id")
    raise ValueError(f"chat completions have no content for {type(part).__name__}")


def _media(kind: str, url: str, key: str) -> dict[str, Any]:
    if kind.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {key: url, "filename": "document"}}
