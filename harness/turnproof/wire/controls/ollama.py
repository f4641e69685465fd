"""The control of Ollama's own API (docs.ollama.com: Chat, Streaming, Tool calling)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...messages import FinishReason, FunctionCall, Message, Part, Text, ToolResult
from ...provider import Endpoint
from ._adapter import Answer, Api, Request, control


class ChatApi(Api):
    """`POST /api/chat`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Everything in every request: the API remembers nothing. A local server takes the key and does not read it."""
        piece = [each for message in request.messages for each in _messages(message)]
        head = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {"model": endpoint.model, "stream": request.streamed, "messages": head + piece}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters or {"type": "object", "properties": {}},
                    },
                }
                for tool in request.tools
            ]
        return "/api/chat", {"authorization": f"Bearer {endpoint.api_key}"}, body

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One message of the model."""
        return _Chat(callbacks)

    def complaint(self, document: Any) -> tuple[str, str]:
        """The text of an error; the API has no kinds. A proxy in front of it may answer in another form."""
        error = document["error"]
        return ("", error) if isinstance(error, str) else (error["type"], error["message"])


class _Chat(Answer):
    def read_document(self, document: Any) -> None:
        self.model = document["model"]
        message = document["message"]
        self.write(message["content"])
        for call in message.get("tool_calls", ()):
            function = call["function"]
            self.call(FunctionCall(call.get("id", ""), function["name"], function["arguments"]))
        if document["done"]:
            self.raw_finish = document["done_reason"]
            self.count(document.get("prompt_eval_count", 0), document.get("eval_count", 0))
            self.complete = True

    def finish(self) -> FinishReason:
        if any(isinstance(piece, FunctionCall) for piece in self.pieces):
            return FinishReason.TOOL_USE
        return {"stop": FinishReason.STOP, "length": FinishReason.MAX_TOKENS}.get(
            self.raw_finish or "", FinishReason.UNKNOWN
        )


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    """The wire messages of one message: each result is one of its own."""
    if message.role == "tool":
        for part in message.parts:
            assert isinstance(part, ToolResult)
            piece = part.result if isinstance(part.result, str) else json.dumps(part.result)
            yield {"role": "tool", "tool_name": part.name, "tool_call_id": part.call_id, "content": piece}
        return
    role = "assistant" if message.role == "model" else "user"
    calls = [_call(part) for part in message.parts if isinstance(part, FunctionCall)]
    yield {"role": role, "content": "".join(map(_text, message.parts))} | ({"tool_calls": calls} if calls else {})


def _call(call: FunctionCall) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.args}}


def _text(part: Part) -> str:
    match part:
        case Text(text=text):
            return text
        case FunctionCall():
            return ""
        case _:
            raise TypeError(f"the control knows no {type(part).__name__}")


CONTROL = control("ollama", "qwen3:8b", ChatApi())
