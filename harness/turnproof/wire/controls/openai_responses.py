"""The control of OpenAI's Responses API (developers.openai.com: Responses, Streaming, Function calling).

It is run with a model that does not reason, and asks the service to keep nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...errors import OverloadedError, TransportError
from ...messages import FinishReason, FunctionCall, Message, Part, Text, ToolResult
from ...provider import Endpoint
from ._adapter import Answer, Api, Request, control

_ENDS = ("response.completed", "response.incomplete")
_INCOMPLETE = {"max_output_tokens": FinishReason.MAX_TOKENS, "content_filter": FinishReason.SAFETY}


class ResponsesApi(Api):
    """`POST /v1/responses`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Everything in every request: nothing is stored."""
        items = [_item(message, part) for message in request.messages for part in message.parts]
        body: dict[str, Any] = {"model": endpoint.model, "input": items, "store": False}
        if request.system:
            body["instructions"] = request.system
        if request.tools:
            body["tools"] = [
                {
                    "type": "function", "name": tool.name, "description": tool.description,
                    "parameters": tool.parameters, "strict": False,
                }
                for tool in request.tools
            ]  # fmt: skip
        if request.streamed:
            body["stream"] = True
        return "/responses", {"authorization": f"Bearer {endpoint.api_key}"}, body

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One response."""
        return _Response(callbacks)

    def complaint(self, document: Any) -> tuple[str, str]:
        """The error's code, or its type where it has none, and its message."""
        error = document["error"]
        return error["code"] or error["type"], error["message"]


class _Response(Answer):
    def read_document(self, document: Any) -> None:
        match document:
            case {"object": "response"}:
                for item in document["output"]:
                    self._open(item)
                    for text in _texts(item):
                        self.write(text)
                    self._close(item)
                self._end(document)
            case {"type": "response.output_item.added", "item": item}:
                self._open(item)
            case {"type": "response.output_text.delta", "delta": delta}:
                self.write(delta)
            case {"type": "response.output_item.done", "item": item}:
                self._close(item)
            case {"type": kind, "response": response} if kind in _ENDS:
                self._end(response)
            case {"type": "error", "code": code, "message": words}:
                raise OverloadedError(words, status=529, kind=code)

    def finish(self) -> FinishReason:
        if self.raw_finish == "completed":
            has_calls = any(isinstance(piece, FunctionCall) for piece in self.pieces)
            return FinishReason.TOOL_USE if has_calls else FinishReason.STOP
        return _INCOMPLETE.get(self.raw_finish or "", FinishReason.UNKNOWN)

    def _open(self, item: Any) -> None:
        if item["type"] == "message":
            self.write("", block=True)

    def _close(self, item: Any) -> None:
        if item["type"] != "function_call" or item["status"] != "completed":
            return
        try:
            self.call(FunctionCall(item["call_id"], item["name"], json.loads(item["arguments"])))
        except ValueError as error:
            raise TransportError("the arguments of a call are no JSON") from error

    def _end(self, response: Any) -> None:
        self.model, usage = response["model"], response["usage"]
        self.count(usage["input_tokens"], usage["output_tokens"], usage["input_tokens_details"]["cached_tokens"])
        details = response["incomplete_details"]
        self.raw_finish, self.complete = details["reason"] if details else response["status"], True


def _texts(item: Any) -> Iterator[str]:
    for block in item["content"] if item["type"] == "message" else ():
        if block["type"] == "output_text":
            yield block["text"]


def _item(message: Message, part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"role": "assistant" if message.role == "model" else message.role, "content": part.text}
        case FunctionCall():
            arguments = json.dumps(dict(part.args))
            return {"type": "function_call", "call_id": part.id, "name": part.name, "arguments": arguments}
        case ToolResult():
            piece = part.result if isinstance(part.result, str) else json.dumps(part.result)
            return {"type": "function_call_output", "call_id": part.call_id, "output": piece}
        case _:
            raise TypeError(f"the control knows no {type(part).__name__}")


CONTROL = control("openai-responses", "gpt-4.1", ResponsesApi())
