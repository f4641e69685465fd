"""The control of the Anthropic Messages API (docs.anthropic.com: Messages, Streaming, Tool use)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import TransportError
from ...messages import FinishReason, FunctionCall, Message, Part, Text, ToolResult
from ...provider import Endpoint
from ._adapter import Answer, Api, Request, control

_FINISH = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_USE,
    "max_tokens": FinishReason.MAX_TOKENS,
    "refusal": FinishReason.REFUSAL,
}


class MessagesApi(Api):
    """`POST /v1/messages`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Everything in every request: the API remembers nothing."""
        body: dict[str, Any] = {
            "model": endpoint.model,
            "max_tokens": 1024,
            "messages": [_message(message) for message in request.messages],
        }
        if request.system:
            body["system"] = request.system
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters or {"type": "object", "properties": {}},
                }
                for tool in request.tools
            ]
        if request.streamed:
            body["stream"] = True
        return "/v1/messages", {"x-api-key": endpoint.api_key, "anthropic-version": "2023-06-01"}, body

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One message of the model."""
        return _Message(callbacks)

    def complaint(self, document: Any) -> tuple[str, str]:
        """The API's error type and message."""
        return document["error"]["type"], document["error"]["message"]


@dataclass
class _Message(Answer):
    counted: dict[str, int] = field(default_factory=dict)
    open_call: dict[str, Any] | None = None
    arguments: str = ""

    def read_document(self, document: Any) -> None:
        match document["type"]:
            case "message":
                self._begin(document)
                for block in document["content"]:
                    self._block(block, block.get("input"))
                self._end(document["stop_reason"], document["usage"])
                self.complete = True
            case "message_start":
                self._begin(document["message"])
            case "content_block_start":
                self._block(document["content_block"], None)
            case "content_block_delta":
                delta = document["delta"]
                if delta["type"] == "text_delta":
                    self.write(delta["text"])
                elif delta["type"] == "input_json_delta":
                    self.arguments += delta["partial_json"]
            case "content_block_stop" if self.open_call is not None:
                try:
                    args = json.loads(self.arguments or "{}")
                except ValueError as error:
                    raise TransportError("the arguments of a call are no JSON") from error
                call, self.open_call = self.open_call, None
                self.call(FunctionCall(call["id"], call["name"], args))
            case "message_delta":
                self._end(document["delta"].get("stop_reason"), document["usage"])
            case "message_stop":
                self.complete = True

    def finish(self) -> FinishReason:
        return _FINISH.get(self.raw_finish or "", FinishReason.UNKNOWN)

    def _begin(self, message: Mapping[str, Any]) -> None:
        self.model = message["model"]
        self._count(message["usage"])

    def _block(self, block: Mapping[str, Any], args: Any) -> None:
        if block["type"] == "text":
            self.write(block["text"], block=True)
        elif block["type"] == "tool_use" and args is not None:
            self.call(FunctionCall(block["id"], block["name"], args))
        elif block["type"] == "tool_use":
            self.open_call, self.arguments = dict(block), ""

    def _end(self, stop_reason: str | None, usage: Mapping[str, Any]) -> None:
        self.raw_finish = stop_reason or self.raw_finish
        self._count(usage)

    def _count(self, usage: Mapping[str, Any]) -> None:
        self.counted.update({name: figure for name, figure in usage.items() if isinstance(figure, int)})
        read = self.counted.get("cache_read_input_tokens", 0)
        created = self.counted.get("cache_creation_input_tokens", 0)
        fresh = self.counted.get("input_tokens", 0)
        self.count(fresh + read + created, self.counted.get("output_tokens", 0), read, created)


def _message(message: Message) -> dict[str, Any]:
    role = "assistant" if message.role == "model" else "user"
    return {"role": role, "content": [_block(part) for part in message.parts]}


def _block(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case FunctionCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.args}
        case ToolResult():
            text = part.result if isinstance(part.result, str) else json.dumps(part.result)
            return {"type": "tool_result", "tool_use_id": part.call_id, "content": text, "is_error": part.is_error}
        case _:
            raise TypeError(f"the control knows no {type(part).__name__}")


CONTROL = control("anthropic-messages", "claude-sonnet-4-6", MessagesApi())
