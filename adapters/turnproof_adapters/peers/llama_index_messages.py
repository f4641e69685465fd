"""Conversations as LlamaIndex's `ChatMessage`s, in the form of dicts of its arguments."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import errors, messages

from .issued_data import IssuedData
from .result_texts import result_text


class LlamaIndexMessages(IssuedData):
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[messages.Message], system: Any) -> list[dict[str, Any]]:
        """The conversation, the system text first. Each result is a message of its own."""
        text = getattr(system, "text", system)
        written = [{"role": "system", "blocks": [_text(text)]}] if text else []
        for message in history:
            if message.role == "tool":
                written += map(_result, message.results)
            elif message.role == "model":
                written.append(self._assistant(message))
            else:
                written.append({"role": message.role, "blocks": [_block(part) for part in message.parts]})
        return written

    def read(self, message: Any) -> Iterator[messages.Part]:
        """The parts of a message of the library. Raises TransportError for arguments that are no JSON object."""
        # One list for the message, in which the library finds a block's signature by the place of the block.
        signatures = [_encoded(one) for one in message.additional_kwargs.get("thought_signatures") or ()]
        signatures_data = {"thought_signatures": signatures} if any(signatures) else {}
        for block in message.blocks:
            match block.block_type:
                case "thinking":
                    own = {key: _encoded(value) for key, value in block.additional_information.items() if value}
                    yield messages.Thought(block.content or "", provider_data=self._issued(own | signatures_data))
                case "text" if block.text or signatures_data:
                    yield messages.Text(block.text, provider_data=self._issued(signatures_data))
                case "tool_call":
                    arguments = _arguments(block)
                    data, id = self._issued(signatures_data), block.tool_call_id or ""
                    yield messages.FunctionCall(id, block.tool_name, arguments, provider_data=data)
                case _:
                    continue
            signatures_data = {}

    def _assistant(self, message: messages.Message) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = []
        additional: dict[str, Any] = {}
        for part in message.parts:
            own = self._own(part)
            if "thought_signatures" in own:
                additional["thought_signatures"] = list(map(_decoded, own.pop("thought_signatures")))
            match part:
                case messages.Thought(text=text) if own or additional:
                    if self._dialect == "gemini" and "thought_signature" in own:
                        own["thought_signature"] = _decoded(own["thought_signature"])
                    blocks.append({"block_type": "thinking", "content": text, "additional_information": own})
                case messages.Text(text=text):
                    blocks.append(_text(text))
                case messages.FunctionCall(id=id, name=name, args=args):
                    call = {"tool_call_id": id, "tool_name": name, "tool_kwargs": messages.thaw(args)}
                    blocks.append({"block_type": "tool_call", **call})
        return {"role": "assistant", "blocks": blocks, "additional_kwargs": additional}


def _arguments(block: Any) -> dict[str, Any]:
    """The arguments of a call, which are the text that the API sent, or an object."""
    arguments = block.tool_kwargs
    try:
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError as error:
        raise errors.TransportError(f"the arguments of {block.tool_name} are no JSON: {error}") from error
    if not isinstance(arguments, dict):
        raise errors.TransportError(f"the arguments of {block.tool_name} are no object: {arguments!r:.80}")
    return arguments


def _encoded(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def _decoded(value: str | None) -> bytes | None:
    return None if value is None else base64.b64decode(value)


def _text(text: str) -> dict[str, Any]:
    return {"block_type": "text", "text": text}


def _result(result: messages.ToolResult) -> dict[str, Any]:
    text = result_text(result.result)
    # The messages have no flag for it; the library's agents begin the result of a failed tool like this.
    text = f"Encountered error: {text}" if result.is_error else text
    blocks = [_text(text), *map(_block, result.attachments)]
    return {"role": "tool", "blocks": blocks, "additional_kwargs": {"tool_call_id": result.call_id}}


def _block(part: messages.Part) -> dict[str, Any]:
    match part:
        case messages.Text(text=text):
            return _text(text)
        case messages.InlineData(mime_type=kind, data=data) if kind.startswith("image/"):
            return {"block_type": "image", "image": base64.b64encode(data), "image_mimetype": kind}
        case messages.InlineData(mime_type=kind, data=data):
            encoded = base64.b64encode(data)
            return {"block_type": "document", "data": encoded, "document_mimetype": kind, "title": "document"}
    raise errors.InvalidRequestError(f"the library's messages have no content for {type(part).__name__}")


def token_usage(response: Any) -> messages.TokenUsage:
    """The tokens of an answer, wherever the library for the API puts them."""
    raw = response.raw if isinstance(response.raw, Mapping) else {}
    if usage := raw.get("usage") or response.message.additional_kwargs.get("usage"):  # Anthropic
        usage = usage if isinstance(usage, Mapping) else usage.model_dump()
        read, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
        prompt, output = usage["input_tokens"] + read + written, usage["output_tokens"]
        return messages.TokenUsage(prompt, output, prompt + output, read, written)
    if usage := raw.get("usage_metadata"):  # Gemini
        prompt, thinking = usage.get("prompt_token_count") or 0, usage.get("thoughts_token_count") or 0
        output = (usage.get("candidates_token_count") or 0) + thinking
        read = usage.get("cached_content_token_count") or 0
        return messages.TokenUsage(prompt, output, prompt + output, read, 0, thinking)
    usage = getattr(response.raw, "usage", None)  # OpenAI
    if usage is None:
        return messages.TokenUsage()
    details, more = usage.prompt_tokens_details, usage.completion_tokens_details
    read = getattr(details, "cached_tokens", None) or 0
    thinking = getattr(more, "reasoning_tokens", None) or 0
    return messages.TokenUsage(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens, read, 0, thinking)
