"""Conversations in chatlas' turns. A content is the name of its class and its arguments, so that a call and the source
of a call have the same ones. The library is not imported here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import errors, messages
from turnproof.messages import FunctionCall, Message, Part, Text, Thought, ToolResult, ToolSchema, thaw

from .issued_data import IssuedData, present
from .result_texts import result_text

Written = tuple[str, list[tuple[str, dict[str, Any]]]]


class ChatlasMessages(IssuedData):
    """Reads and writes turns, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[Message], system: Any) -> Iterator[Written]:
        """The turns. Instructions between messages join the system text, of which there is one."""
        texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
        if text := "\n\n".join(filter(None, texts)):
            yield "SystemTurn", [("ContentText", {"text": text})]
        names = {call.id: call for message in history for call in message.calls}
        for message in history:
            match message.role:
                case "user":
                    yield "UserTurn", [one for part in message.parts for one in _content(part)]
                case "model":
                    yield "AssistantTurn", [one for part in message.parts for one in self._answer(part)]
                case "tool":
                    yield "UserTurn", [("ContentToolResult", self._result(one, names)) for one in message.results]

    def read(self, turn: Any, *, cut: bool) -> Iterator[Part]:
        """The parts of a turn of the model. Raises TransportError for a call whose arguments are no object; where the
        answer was cut, that call did not arrive.
        """
        for content in turn.contents:
            match content.content_type:
                case "text":
                    yield Text(content.text)
                case "thinking":
                    yield Thought(content.thinking, provider_data=self._issued(present(**_as_text(content.extra))))
                case "tool_request":
                    arguments = content.arguments or {}
                    if isinstance(arguments, dict):
                        own = self._issued(_as_text(content.extra))
                        yield FunctionCall(content.id, content.name, arguments, provider_data=own)
                    elif not cut:
                        raise errors.TransportError(f"arguments that are no object: {arguments!r:.80}")

    def _answer(self, part: Part) -> Iterator[tuple[str, dict[str, Any]]]:
        match part:
            case Thought() if own := self._own(part):
                yield "ContentThinking", {"thinking": part.text, "extra": _as_bytes(own)}
            case FunctionCall():
                yield "ContentToolRequest", self._call(part)
            case Text():
                yield from _content(part)

    def _call(self, call: FunctionCall) -> dict[str, Any]:
        own = self._own(call)
        return {"id": call.id, "name": call.name, "arguments": thaw(call.args)} | (
            {"extra": _as_bytes(own)} if own else {}
        )

    def _result(self, result: ToolResult, calls: Mapping[str, FunctionCall]) -> dict[str, Any]:
        call = calls.get(result.call_id) or FunctionCall(result.call_id, result.name or "", {})
        request = {"request": ("ContentToolRequest", self._call(call))}
        value = thaw(result.result)
        if result.is_error:
            return {"value": None, "error": value if isinstance(value, str) else repr(value)} | request
        if result.attachments:
            text = [result_text(value)] if value not in (None, "") else []
            return {"value": [*text, *(one for part in result.attachments for one in _content(part))]} | request
        return {"value": value} | request


def _content(part: Part) -> Iterator[tuple[str, dict[str, Any]]]:
    match part:
        case Text(text=text):
            yield "ContentText", {"text": text}
        case messages.InlineData(mime_type=kind, data=data) if kind.startswith("image/"):
            yield "ContentImageInline", {"image_content_type": kind, "data": base64.b64encode(data).decode()}
        case messages.FileRef(mime_type=kind, uri=uri) if kind.startswith("image/"):
            yield "ContentImageRemote", {"url": uri}
        case messages.InlineData(mime_type="application/pdf", data=data):
            yield "ContentPDF", {"data": data, "filename": "document.pdf"}
        case messages.InlineData(mime_type=kind, data=data):
            yield "ContentDocument", {"data": data, "filename": "document", "mime_type": kind}
        case messages.FileRef(mime_type="application/pdf", uri=uri):
            yield "ContentPDF", {"url": uri, "filename": "document.pdf"}


def tool_arguments(tool: ToolSchema) -> dict[str, Any]:
    """The arguments of `Tool`, beside its function."""
    return {"name": tool.name, "description": tool.description, "parameters": thaw(tool.parameters)}


def is_content(written: Any) -> bool:
    """Whether this is a content that is still to be made: the name of its class and its arguments."""
    return isinstance(written, tuple) and len(written) == 2 and str(written[0]).startswith("Content")


def _as_text(extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the library keeps beside a content; Google's SDK gives signatures as bytes."""
    return {
        key: {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for key, value in (extra or {}).items()
    }


def _as_bytes(own: Mapping[str, Any]) -> dict[str, Any]:
    """The same as the library gave it."""
    return {
        key: base64.b64decode(value["base64"]) if isinstance(value, Mapping) else value for key, value in own.items()
    }
