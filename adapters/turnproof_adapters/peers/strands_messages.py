"""Conversations in the message types of strands, which are those of Bedrock's Converse: dicts, for every provider."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import messages

from .issued_data import IssuedData, present
from .result_texts import result_text


class StrandsMessages(IssuedData):
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[messages.Message]) -> list[dict[str, Any]]:
        """The messages. There are two roles: results are the user's, and instructions go into the system text."""
        return [
            {"role": "assistant" if message.role == "model" else "user", "content": list(self._blocks(message.parts))}
            for message in history
            if message.role != "system"
        ]

    def read(self, message: Mapping[str, Any]) -> Iterator[messages.Part]:
        """The parts of a message of the library."""
        for block in message["content"]:
            match block:
                case {"text": text} | {"citationsContent": {"content": [{"text": text}]}}:
                    yield messages.Text(text)
                case {"reasoningContent": {"reasoningText": thought}}:
                    signature = self._issued(present(signature=thought.get("signature")))
                    yield messages.Thought(thought["text"], provider_data=signature)
                case {"reasoningContent": {"redactedContent": data}}:
                    data = {"redacted": base64.b64encode(data).decode()}
                    yield messages.Thought("", provider_data=self._issued(data))
                case {"toolUse": call}:
                    signature = self._issued(present(signature=call.get("reasoningSignature")))
                    yield messages.FunctionCall(call["toolUseId"], call["name"], call["input"], provider_data=signature)

    def _blocks(self, parts: Sequence[messages.Part]) -> Iterator[dict[str, Any]]:
        for part in parts:
            match part:
                case messages.Text(text=text):
                    yield {"text": text}
                case messages.InlineData(mime_type=kind, data=data):
                    yield _media(kind, {"bytes": data})
                case messages.FileRef(mime_type=kind, uri=uri):
                    yield _media(kind, {"location": {"type": "s3", "uri": uri}})
                case messages.Thought() if own := self._own(part):
                    yield _thinking(part.text, own)
                case messages.FunctionCall(id=id, name=name, args=args):
                    signature = self._own(part).get("signature")
                    call = {"toolUseId": id, "name": name, "input": messages.thaw(args)}
                    yield {"toolUse": call | ({"reasoningSignature": signature} if signature else {})}
                case messages.ToolResult():
                    yield {"toolResult": self._result(part)}

    def _result(self, result: messages.ToolResult) -> dict[str, Any]:
        text = result_text(result.result)
        content = [{"text": text}, *self._blocks(result.attachments)]
        return {
            "toolUseId": result.call_id,
            "status": "error" if result.is_error else "success",
            "content": content,
        }


def system_text(history: Sequence[messages.Message], system: Any) -> str | None:
    """The system text, with the instructions that stand between messages at its end."""
    texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
    return "\n\n".join(text for text in texts if text) or None


def tool_spec(tool: messages.ToolSchema) -> dict[str, Any]:
    """The definition of a tool."""
    return {"name": tool.name, "description": tool.description, "inputSchema": {"json": messages.thaw(tool.parameters)}}


def token_usage(usage: Mapping[str, int]) -> messages.TokenUsage:
    """The tokens of an answer. For Anthropic the input is without what a cache served or stored; the total has it."""
    output, total = usage["outputTokens"], usage["totalTokens"]
    read, written = usage.get("cacheReadInputTokens", 0), usage.get("cacheWriteInputTokens", 0)
    return messages.TokenUsage(max(total - output, 0), output, total, read, written)


def _thinking(text: str, own: Mapping[str, Any]) -> dict[str, Any]:
    if "redacted" in own:
        return {"reasoningContent": {"redactedContent": base64.b64decode(own["redacted"])}}
    return {"reasoningContent": {"reasoningText": {"text": text, "signature": own["signature"]}}}


def _media(mime_type: str, source: dict[str, Any]) -> dict[str, Any]:
    kind, _, form = mime_type.partition("/")
    if kind == "image":
        return {"image": {"format": form, "source": source}}
    return {"document": {"format": "txt" if form == "plain" else form, "name": "document", "source": source}}
