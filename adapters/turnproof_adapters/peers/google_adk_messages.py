"""Conversations in the types of google-genai, which ADK has for every model, as dicts of their arguments."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from turnproof import errors, messages

from .issued_data import IssuedData

OWN_ID = "own-"
"""What the id of a call begins with that has none in the library, as Gemini gives none. It goes back without one."""


class AdkMessages(IssuedData):
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[messages.Message]) -> list[dict[str, Any]]:
        """The contents. There are two roles; instructions go into the system text."""
        written = []
        for message in history:
            role = "model" if message.role == "model" else "user"
            parts = [one for part in message.parts if (one := self._part(part))]
            if message.role != "system":
                written.append({"role": role, "parts": parts})
        return written

    def read(self, content: Any) -> Iterator[messages.Part]:
        """The parts of a content of the library."""
        for part in (content.parts if content else None) or ():
            data = {"signature": self._signature(part.thought_signature)} if part.thought_signature else {}
            issued = self._issued(data)
            if part.function_call:
                call = part.function_call
                id = call.id or f"{OWN_ID}{uuid4().hex}"
                yield messages.FunctionCall(id, call.name or "", call.args or {}, provider_data=issued)
            elif part.thought:
                yield messages.Thought(part.text or "", provider_data=issued)
            elif part.text is not None:
                yield messages.Text(part.text, provider_data=issued)

    def _signature(self, signature: bytes) -> str:
        """A signature as the API has it: Gemini's are bytes that it writes in base64, Anthropic's are a text."""
        return base64.b64encode(signature).decode() if self._dialect == "gemini" else signature.decode()

    def _bytes(self, signature: str) -> bytes:
        return base64.b64decode(signature) if self._dialect == "gemini" else signature.encode()

    def _part(self, part: messages.Part) -> dict[str, Any]:
        own = self._own(part)
        signed = {"thought_signature": self._bytes(own["signature"])} if "signature" in own else {}
        match part:
            case messages.Text(text=text):
                return {"text": text} | signed
            case messages.Thought(text=text):
                return {"text": text or None, "thought": True} | signed if own else {}
            case messages.FunctionCall(id=id, name=name, args=args):
                return {"function_call": {"id": _id(id), "name": name, "args": messages.thaw(args)}} | signed
            case messages.ToolResult():
                return {"function_response": _response(part)}
            case messages.InlineData(mime_type=kind, data=bytes_):
                return {"inline_data": {"mime_type": kind, "data": bytes_}}
            case messages.FileRef(mime_type=kind, uri=uri):
                return {"file_data": {"mime_type": kind, "file_uri": uri}}
        raise errors.InvalidRequestError(f"the library's contents have no part for {type(part).__name__}")


def _id(id: str) -> str | None:
    return None if id.startswith(OWN_ID) else id


def _response(result: messages.ToolResult) -> dict[str, Any]:
    """As the library's agents make it: any value under `result`, unless the tool returned an object or an error."""
    value = messages.thaw(result.result)
    response = value if isinstance(value, dict) else {"result": value}
    response = {"error": value} if result.is_error else response
    media = [{"inline_data": {"mime_type": one.mime_type, "data": one.data}} for one in _inline(result.attachments)]
    written = {"id": _id(result.call_id), "name": result.name, "response": response}
    return written | ({"parts": media} if media else {})


def _inline(parts: Sequence[Any]) -> Iterator[messages.InlineData]:
    for part in parts:
        if not isinstance(part, messages.InlineData):
            raise errors.InvalidRequestError("results of tools have their attachments as bytes")
        yield part


def request_config(
    history: Sequence[messages.Message],
    system: Any,
    tools: Sequence[messages.ToolSchema] | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """The arguments of `GenerateContentConfig`; instructions between messages are in the system text."""
    texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
    config: dict[str, Any] = {}
    if text := "\n\n".join(text for text in texts if text):
        config["system_instruction"] = text
    if tools:
        declared = [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters_json_schema": messages.thaw(tool.parameters),
            }
            for tool in tools
        ]
        config["tools"] = [{"function_declarations": declared}]
    if "max_tokens" in options:
        config["max_output_tokens"] = options["max_tokens"]
    if thinking := options.get("thinking"):
        config["thinking_config"] = {"thinking_budget": thinking["budget_tokens"], "include_thoughts": True}
    return config


def token_usage(usage: Any) -> messages.TokenUsage:
    """The tokens of an answer. Those of thinking are beside the output."""
    if usage is None:
        return messages.TokenUsage()
    prompt, thinking = usage.prompt_token_count or 0, usage.thoughts_token_count or 0
    output, read = (usage.candidates_token_count or 0) + thinking, usage.cached_content_token_count or 0
    written = getattr(usage, "cache_creation_input_tokens", None) or 0
    return messages.TokenUsage(prompt, output, prompt + output, read, written, thinking)
