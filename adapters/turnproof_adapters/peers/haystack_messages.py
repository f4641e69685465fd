"""Conversations as Haystack's `ChatMessage`s, in the form of dicts that `ChatMessage.from_dict` takes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import uuid4

from turnproof import errors, messages

from .issued_data import IssuedData, present
from .result_texts import result_text

OWN_ID = "own-"
"""What the id of a call begins with that has none in the library, as Gemini gives none. It goes back without one."""


class HaystackMessages(IssuedData):
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[messages.Message], system: Any) -> list[dict[str, Any]]:
        """The conversation, the system text first. Each result is a message of its own."""
        written = [_message("system", [{"text": getattr(system, "text", system)}])] if system else []
        calls = {call.id: call for message in history for call in message.calls}
        for message in history:
            if message.role == "tool":
                written += [_message("tool", [self._result(result, calls)]) for result in message.results]
            elif message.role == "model":
                written.append(self._assistant(message))
            else:
                written.append(_message(message.role, [_block(part) for part in message.parts]))
        return written

    def read(self, message: Any) -> Iterator[messages.Part]:
        """The parts of a message of the library, which has one reasoning, then one text, then the calls."""
        signatures = present(thought_signatures=message.meta.get("thought_signatures"))
        for reasoning in message.reasonings:
            blocks = reasoning.extra.get("reasoning_contents")
            if blocks is None:
                yield messages.Thought(reasoning.reasoning_text, provider_data=self._issued(signatures))
                signatures = {}
            for block in blocks or ():
                yield self._thought(block["reasoning_content"])
        if message.text:
            yield messages.Text(message.text, provider_data=self._issued(signatures))
            signatures = {}
        for call in message.tool_calls:
            data, id = self._issued(signatures), call.id or f"{OWN_ID}{uuid4().hex}"
            yield messages.FunctionCall(id, call.tool_name, call.arguments, provider_data=data)
            signatures = {}

    def _thought(self, block: Mapping[str, Any]) -> messages.Thought:
        inner = block.get("reasoning_text") or {}
        data = present(signature=inner.get("signature"), redacted=block.get("redacted_thinking"))
        return messages.Thought(inner.get("text") or "", provider_data=self._issued(data))

    def _assistant(self, message: messages.Message) -> dict[str, Any]:
        thoughts: list[dict[str, Any]] = []
        content: list[dict[str, Any]] = []
        meta: dict[str, Any] = {}
        text = ""
        for part in message.parts:
            own = self._own(part)
            if "thought_signatures" in own:
                meta["thought_signatures"] = own["thought_signatures"]
            match part:
                case messages.Thought(text=thinking) if "redacted" in own:
                    thoughts.append({"redacted_thinking": own["redacted"]})
                case messages.Thought(text=thinking) if "signature" in own:
                    thoughts.append({"reasoning_text": {"text": thinking, "signature": own["signature"]}})
                case messages.Thought(text=thinking) if own:
                    content.append({"reasoning": {"reasoning_text": thinking}})
                case messages.Text():
                    text += part.text
                case messages.FunctionCall():
                    content.append({"tool_call": _call(part)})
        if thoughts:
            blocks = [{"reasoning_content": thought} for thought in thoughts]
            content.insert(0, {"reasoning": {"reasoning_text": "", "extra": {"reasoning_contents": blocks}}})
        if text:
            content.insert(sum("reasoning" in block for block in content), {"text": text})
        return _message("assistant", content) | {"meta": meta}

    def _result(self, result: messages.ToolResult, calls: Mapping[str, messages.FunctionCall]) -> dict[str, Any]:
        text = result_text(result.result)
        origin = _call(calls.get(result.call_id) or messages.FunctionCall(result.call_id, result.name))
        content: Any = text
        if result.attachments:
            content = [{"text": text}, *map(_block, result.attachments)]
        return {"tool_call_result": {"result": content, "origin": origin, "error": result.is_error}}


def _message(role: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": role, "content": content}


def _call(call: messages.FunctionCall) -> dict[str, Any]:
    return {
        "tool_name": call.name,
        "arguments": messages.thaw(call.args),
        "id": None if call.id.startswith(OWN_ID) else call.id,
    }


def _block(part: messages.Part) -> dict[str, Any]:
    match part:
        case messages.Text(text=text):
            return {"text": text}
        case messages.InlineData(mime_type=kind, data=data) if kind.startswith("image/"):
            return {"image": {"base64_image": base64.b64encode(data).decode(), "mime_type": kind}}
        case messages.InlineData(mime_type=kind, data=data):
            return {"file": {"base64_data": base64.b64encode(data).decode(), "mime_type": kind}}
    raise errors.InvalidRequestError(f"the library's messages have no content for {type(part).__name__}")


def token_usage(usage: Mapping[str, Any] | None) -> messages.TokenUsage:
    """The tokens of an answer; none where the library reports none. Gemini's thinking is beside the output."""
    usage = usage or {}
    prompt, output = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    separate_thinking = usage.get("thoughts_token_count") or 0
    read = _detail(usage, "prompt_tokens_details", "cached_tokens")
    read = read or usage.get("cache_read_input_tokens") or usage.get("cached_content_token_count") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    thinking = separate_thinking or _detail(usage, "completion_tokens_details", "reasoning_tokens")
    return messages.TokenUsage(
        prompt, output + separate_thinking, prompt + output + separate_thinking, read, written, thinking
    )


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int:
    found = usage.get(group)  # Gemini's is a list, by modality
    return found.get(name) or 0 if isinstance(found, Mapping) else 0
