"""Conversations in LangChain's messages. A message is the name of its class and its arguments, so that a call and the
source of a call have the same ones. The library is not imported here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import errors, messages

from .issued_data import IssuedData, present
from .result_texts import result_text

Written = tuple[str, dict[str, Any]]

CALL_SIGNATURES = "__gemini_function_call_thought_signatures__"
"""Where `langchain-google-genai` keeps the signatures of calls, in the `additional_kwargs` of a message."""


class LangChainMessages(IssuedData):
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[messages.Message], system: Any) -> Iterator[Written]:
        """The conversation. Instructions between messages join the system text: only one may stand there."""
        texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
        if text := "\n\n".join(text for text in texts if text):
            yield "SystemMessage", {"content": text}
        for message in history:
            match message.role:
                case "user":
                    yield "HumanMessage", {"content": self._content(message.parts)}
                case "model":
                    yield "AIMessage", self._answer(message)
                case "tool":
                    for result in message.results:
                        yield "ToolMessage", self._result(result)

    def read(self, message: Any, *, cut: bool) -> Iterator[messages.Part]:
        """The parts of the library's message. Raises TransportError for a call whose arguments are no object. Where the
        answer was cut, that call did not arrive.
        """
        if message.invalid_tool_calls and not cut:
            call = message.invalid_tool_calls[0]
            raise errors.TransportError(f"the arguments of {call['name']} are no object: {str(call['args'])[:80]!r}")
        signatures = message.additional_kwargs.get(CALL_SIGNATURES) or {}
        calls = {}
        for call in message.tool_calls:
            signature = self._issued(present(signature=signatures.get(call["id"])))
            calls[call["id"]] = messages.FunctionCall(call["id"], call["name"], call["args"], provider_data=signature)
        for block in _blocks_of(message):
            match block:
                case {"type": "tool_use", "id": id} | {"type": "function_call", "call_id": id} if id in calls:
                    yield calls.pop(id)
                case _:
                    yield from self._part(block)
        yield from calls.values()

    def read_piece(self, chunk: Any) -> Iterator[messages.Part]:
        """The texts and thoughts of a piece of an answer."""
        for block in _blocks_of(chunk):
            yield from self._part(block)

    def _part(self, block: dict[str, Any]) -> Iterator[messages.Part]:
        match block:
            case {"type": "text", "text": str(text)} | {"type": "refusal", "refusal": str(text)} if text:
                signature = present(signature=block.get("extras", {}).get("signature"))
                yield messages.Text(text, provider_data=self._issued(signature))
            case {"type": "thinking" | "redacted_thinking" | "reasoning"}:
                yield self._thought(block)

    def _thought(self, block: Mapping[str, Any]) -> messages.Thought:
        text = block.get("thinking") or "\n\n".join(item["text"] for item in block.get("summary") or ())
        own = {key: value for key, value in block.items() if key != "index"}
        signed = {"signature", "data", "encrypted_content"} & own.keys()
        return messages.Thought(text, provider_data=self._issued(own) if signed else None)

    def _answer(self, message: messages.Message) -> dict[str, Any]:
        calls = [{"name": call.name, "args": messages.thaw(call.args), "id": call.id} for call in message.calls]
        signatures = {call.id: own["signature"] for call in message.calls if (own := self._own(call))}
        answer: dict[str, Any] = {"content": self._content(message.parts)}
        return (
            answer
            | ({"tool_calls": calls} if calls else {})
            | ({"additional_kwargs": {CALL_SIGNATURES: signatures}} if signatures else {})
        )

    def _result(self, result: messages.ToolResult) -> dict[str, Any]:
        text = result_text(result.result)
        content = self._content((messages.Text(text), *result.attachments))
        status = {"status": "error"} if result.is_error else {}
        return {"content": content, "tool_call_id": result.call_id, "name": result.name, **status}

    def _content(self, parts: Sequence[messages.Part]) -> str | list[dict[str, Any]]:
        """Text alone where there is nothing else, otherwise blocks."""
        others = [part for part in parts if not isinstance(part, messages.FunctionCall)]
        if not others:
            return ""
        if len(others) == len(parts) == 1 and isinstance(others[0], messages.Text) and not self._own(others[0]):
            return others[0].text
        return [block for part in parts for block in self._blocks(part)]

    def _blocks(self, part: messages.Part) -> Iterator[dict[str, Any]]:
        own = self._own(part)
        match part:
            case messages.Text(text=text):
                yield {"type": "text", "text": text} | ({"extras": own} if own else {})
            case messages.Thought() if own:
                yield own
            case messages.FunctionCall(id=id, name=name, args=args) if self._dialect == "anthropic-messages":
                yield {"type": "tool_use", "id": id, "name": name, "input": messages.thaw(args)}  # keeps its place
            case messages.InlineData(mime_type=kind, data=data):
                yield _media(kind, {"base64": base64.b64encode(data).decode()})
            case messages.FileRef(mime_type=kind, uri=uri):
                yield _media(kind, {"url": uri})


def _blocks_of(message: Any) -> Iterator[dict[str, Any]]:
    """The blocks of a message, whose content may be a text. Chat completions keep a refusal beside it."""
    for block in message.content if isinstance(message.content, list) else [message.content]:
        yield {"type": "text", "text": block} if isinstance(block, str) else block
    if refusal := message.additional_kwargs.get("refusal"):
        yield {"type": "refusal", "refusal": refusal}


def library_tool(tool: messages.ToolSchema) -> dict[str, Any]:
    """The definition of a tool, for `bind_tools()`."""
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": messages.thaw(tool.parameters)},
    }


def token_usage(usage: Mapping[str, Any] | None) -> messages.TokenUsage:
    """The tokens of an answer; none where the library reports none."""
    if not usage:
        return messages.TokenUsage()
    read, output = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    written = sum(
        count or 0 for name, count in read.items() if "cache_creation" in name or name.startswith("ephemeral")
    )
    return messages.TokenUsage(
        usage["input_tokens"],
        usage["output_tokens"],
        usage["total_tokens"],
        read.get("cache_read") or 0,
        written,
        output.get("reasoning") or 0,
    )


def _media(kind: str, source: dict[str, Any]) -> dict[str, Any]:
    if kind.startswith("image/"):
        return {"type": "image", "mime_type": kind, **source}
    return {"type": "file", "mime_type": kind, "filename": "document", **source}
