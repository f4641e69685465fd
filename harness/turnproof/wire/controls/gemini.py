"""The control of the Gemini API (ai.google.dev: generateContent, streamGenerateContent, function calling).

It is run with a model that neither signs what it says nor gives its calls an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...messages import FinishReason, FunctionCall, Message, Part, Text, ToolResult
from ...provider import Endpoint
from ._adapter import Answer, Api, Request, control

_FINISH = {
    "STOP": FinishReason.STOP,
    "MAX_TOKENS": FinishReason.MAX_TOKENS,
    "SAFETY": FinishReason.SAFETY,
    "RECITATION": FinishReason.SAFETY,
}
_ID = "call-"


class GenerateContentApi(Api):
    """`POST /v1beta/models/MODEL:generateContent`, or `:streamGenerateContent`."""

    def request(self, request: Request, endpoint: Endpoint) -> tuple[str, dict[str, str], Any]:
        """Everything in every request: the API remembers nothing."""
        body: dict[str, Any] = {"contents": [_content(message) for message in request.messages]}
        if request.system:
            body["systemInstruction"] = {"parts": [{"text": request.system}]}
        if request.tools:
            declared = [
                {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
                for tool in request.tools
            ]
            body["tools"] = [{"functionDeclarations": declared}]
        verb = "streamGenerateContent?alt=sse" if request.streamed else "generateContent"
        return f"/v1beta/models/{endpoint.model}:{verb}", {"x-goog-api-key": endpoint.api_key}, body

    def answer(self, request: Request, callbacks: Mapping[str, Any]) -> Answer:
        """One candidate. Its calls get the next free numbers as ids."""
        return Candidate(callbacks, next_id=self.next_id(request))

    def next_id(self, request: Request) -> int:
        """The lowest number that no call has."""
        numbers = [int(call.id.removeprefix(_ID)) for message in request.messages for call in message.calls]
        return max(numbers, default=0) + 1

    def complaint(self, document: Any) -> tuple[str, str]:
        """The API's status word and message."""
        return document["error"]["status"], document["error"]["message"]


@dataclass
class Candidate(Answer):
    """An answer of which one candidate is read."""

    next_id: int = 1

    def read_document(self, document: Any) -> None:
        self.model = document.get("modelVersion", self.model)
        candidate = document["candidates"][0]
        for part in candidate.get("content", {}).get("parts", ()):
            if "functionCall" in part:
                request = part["functionCall"]
                self.call(FunctionCall(f"{_ID}{self.next_id}", request["name"], request.get("args", {})))
                self.next_id += 1
            elif "text" in part:
                self.write(part["text"])
        used = document.get("usageMetadata", {})
        if used:
            self.count(
                used.get("promptTokenCount", 0),
                used.get("candidatesTokenCount", 0),
                used.get("cachedContentTokenCount", 0),
            )
        if "finishReason" in candidate:
            self.raw_finish, self.complete = candidate["finishReason"], True

    def finish(self) -> FinishReason:
        if self.raw_finish == "STOP" and any(isinstance(piece, FunctionCall) for piece in self.pieces):
            return FinishReason.TOOL_USE
        return _FINISH.get(self.raw_finish or "", FinishReason.UNKNOWN)


def _content(message: Message) -> dict[str, Any]:
    role = "model" if message.role == "model" else "user"
    return {"role": role, "parts": [_part(part) for part in message.parts]}


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Text():
            return {"text": part.text}
        case FunctionCall():
            return {"functionCall": {"name": part.name, "args": part.args}}
        case ToolResult():
            piece = {"error" if part.is_error else "output": part.result}
            return {"functionResponse": {"name": part.name, "response": piece}}
        case _:
            raise TypeError(f"the control knows no {type(part).__name__}")


CONTROL = control("gemini", "gemini-2.0-flash", GenerateContentApi())
