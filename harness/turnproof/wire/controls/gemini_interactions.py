"""The control of Google's Interactions API (ai.google.dev: Interactions, Streaming, Function calling).

It is run in conversations in which nothing is thought, and asks the service to keep nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import OverloadedError, TransportError
from ...messages import FinishReason, FunctionCall, Message, Part, Text, ToolResult
from ...provider import Endpoint
from ._adapter import Answer, Api, Request, control

_FINISH = {
    "completed": FinishReason.STOP,
    "requires_action": FinishReason.TOOL_USE,
    "incomplete": FinishReason.MAX_TOKENS,
}


class InteractionsApi(Api):
    """`POST /v1beta/interactions`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Everything in every request: nothing is stored."""
        steps = [_step(message, part) for message in request.messages for part in message.parts]
        body: dict[str, Any] = {"model": endpoint.model, "input": steps, "store": False}
        if request.system:
            body["system_instruction"] = request.system
        if request.tools:
            body["tools"] = [
                {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}
                for tool in request.tools
            ]
        if request.streamed:
            body["stream"] = True
        return "/v1beta/interactions", {"x-goog-api-key": endpoint.api_key}, body

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One interaction."""
        return _Interaction(callbacks)

    def complaint(self, document: Any) -> tuple[str, str]:
        """The error's code and its message."""
        return document["error"]["code"], document["error"]["message"]


@dataclass
class _Interaction(Answer):
    calls: dict[int, tuple[Any, list[str]]] = field(default_factory=dict)

    def read_document(self, document: Any) -> None:
        if "metadata" in document:
            self._count(document["metadata"]["usage"])
        match document:
            case {"object": "interaction"}:
                for step in document["steps"]:
                    self._read_step(step)
                self._end(document)
            case {"event_type": "step.start", "index": place, "step": step}:
                if step["type"] == "model_output":
                    self.write("", block=True)
                elif step["type"] == "function_call":
                    self.calls[place] = step, []
            case {"event_type": "step.delta", "delta": {"type": "text", "text": text}}:
                self.write(text)
            case {"event_type": "step.delta", "index": place, "delta": {"type": "arguments_delta", "arguments": text}}:
                self.calls[place][1].append(text)
            case {"event_type": "step.stop", "index": place} if place in self.calls:
                step, pieces = self.calls[place]
                self._call(step, "".join(pieces))
            case {"event_type": "interaction.created", "interaction": interaction}:
                self.model = interaction["model"]
            case {"event_type": "interaction.completed", "interaction": interaction}:
                self._end(interaction)
            case {"event_type": "error", "error": error}:
                raise OverloadedError(error["message"], status=529, kind=error["code"])

    def finish(self) -> FinishReason:
        return _FINISH.get(self.raw_finish or "", FinishReason.UNKNOWN)

    def _read_step(self, step: Any) -> None:
        if step["type"] == "function_call":
            self.call(FunctionCall(step["id"], step["name"], step["arguments"]))
        for text in _texts(step):
            self.write(text, block=True)

    def _call(self, step: Any, text: str) -> None:
        try:
            arguments = json.loads(text) if text else {}
        except ValueError as error:
            raise TransportError("the arguments of a call are no JSON") from error
        self.call(FunctionCall(step["id"], step["name"], arguments))

    def _end(self, interaction: Any) -> None:
        self._count(interaction["usage"])
        self.model, self.raw_finish, self.complete = interaction["model"], interaction["status"], True

    def _count(self, usage: Any) -> None:
        output = usage["total_output_tokens"] + usage["total_thought_tokens"]
        self.count(usage["total_input_tokens"], output, usage["total_cached_tokens"])


def _texts(step: Any) -> Iterator[str]:
    for content in step["content"] if step["type"] == "model_output" else ():
        if content["type"] == "text":
            yield content["text"]


def _step(message: Message, part: Part) -> dict[str, Any]:
    match part:
        case Text():
            kind = "model_output" if message.role == "model" else "user_input"
            return {"type": kind, "content": [{"type": "text", "text": part.text}]}
        case FunctionCall():
            return {"type": "function_call", "id": part.id, "name": part.name, "arguments": dict(part.args)}
        case ToolResult():
            piece = part.result if isinstance(part.result, str) else json.dumps(part.result)
            failed = {"is_error": True} if part.is_error else {}
            return {
                "type": "function_result", "call_id": part.call_id, "name": part.name, "result": piece, **failed,
            }  # fmt: skip
        case _:
            raise TypeError(f"the control knows no {type(part).__name__}")


CONTROL = control("gemini-interactions", "gemini-2.5-flash", InteractionsApi())
