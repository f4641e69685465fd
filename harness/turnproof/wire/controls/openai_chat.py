"""The control of OpenAI's chat completions (developers.openai.com: Chat, Streaming, Function calling)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import TransportError
from ...messages import FinishReason, FunctionCall, Message, Text
from ...provider import Endpoint
from ._adapter import Answer, Api, Request, control

_FINISH = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_USE,
    "length": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.SAFETY,
}


class ChatApi(Api):
    """`POST …/chat/completions`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Everything in every request: the API remembers nothing."""
        messages = [wire for message in request.messages for wire in _messages(message)]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {"model": endpoint.model, "messages": messages}
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
                }
                for tool in request.tools
            ]
        if request.streamed:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return "/chat/completions", {"authorization": f"Bearer {endpoint.api_key}"}, body

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One completion."""
        return _Completion(callbacks)

    def complaint(self, document: Any) -> tuple[str, str]:
        """The API's error code, or its type where it has no code, and its message."""
        error = document["error"]
        return error["code"] or error["type"], error["message"]


@dataclass
class _Completion(Answer):
    calls: dict[int, dict[str, str]] = field(default_factory=dict)

    def read_document(self, document: Any) -> None:
        if not document:
            self.complete = self.raw_finish is not None
            return
        self.model = document["model"]
        if document.get("usage"):
            usage = document["usage"]
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            self.count(usage["prompt_tokens"], usage["completion_tokens"], cached)
        if not document["choices"]:
            return  # the figures that were asked for
        choice = document["choices"][0]
        message = choice["message"] if "message" in choice else choice["delta"]
        self.write(message.get("content") or "")
        for number, call in enumerate(message.get("tool_calls") or ()):
            self._piece(call.get("index", number), call)
        self.raw_finish = choice["finish_reason"] or self.raw_finish
        if choice["finish_reason"]:
            self._whole_calls()
            self.complete = "message" in choice

    def finish(self) -> FinishReason:
        return _FINISH.get(self.raw_finish or "", FinishReason.UNKNOWN)

    def _piece(self, index: int, piece: Mapping[str, Any]) -> None:
        call = self.calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        call["id"] += piece.get("id", "")
        call["name"] += piece["function"].get("name", "")
        call["arguments"] += piece["function"].get("arguments", "")

    def _whole_calls(self) -> None:
        for _, call in sorted(self.calls.items()):
            try:
                self.call(FunctionCall(call["id"], call["name"], json.loads(call["arguments"] or "{}")))
            except ValueError as error:
                raise TransportError("the arguments of a call are no JSON") from error


def _messages(message: Message) -> Iterator[dict[str, Any]]:
    if message.role == "tool":
        for result in message.results:
            text = result.result if isinstance(result.result, str) else json.dumps(result.result)
            yield {"role": "tool", "tool_call_id": result.call_id, "content": text}
        return
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    if message.role != "model":
        yield {"role": message.role, "content": "".join(texts)}
        return
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": json.dumps(dict(call.args))}}
        for call in message.calls
    ]
    yield {"role": "assistant", "content": "".join(texts) or None} | ({"tool_calls": calls} if calls else {})


CONTROL = control("openai-chat", "gpt-4o", ChatApi())
