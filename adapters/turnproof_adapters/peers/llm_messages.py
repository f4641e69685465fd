"""Conversations in the messages of Simon Willison's `llm`, in the form of dicts that `Message.from_dict` takes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnproof import errors, messages

from .issued_data import IssuedData
from .result_texts import result_text

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "pause_turn": "paused",
    "model_context_window_exceeded": "context_limit",
    "stop": "stop",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "safety",
}


class LlmMessages(IssuedData):
    """Reads and writes messages, for the dialect and the model that issue what is signed."""

    def write(self, history: Sequence[messages.Message], system: Any) -> list[dict[str, Any]]:
        """The conversation, the system text first. For Anthropic there is no other one: the others are added to it."""
        between = [message.text for message in history if message.role == "system"]
        texts = [getattr(system, "text", system), *(between if self._dialect == "anthropic-messages" else ())]
        text = "\n\n".join(text for text in texts if text)
        written = [{"role": "system", "parts": [{"type": "text", "text": text}]}] if text else []
        for message in history:
            role = "assistant" if message.role == "model" else message.role
            if role == "system" and self._dialect == "anthropic-messages":
                continue
            parts = [one for part in message.parts if (one := self._part(part))]
            written.append({"role": role, "parts": parts})
        return written

    def read(self, answered: Sequence[Any], calls: Sequence[Any]) -> Iterator[messages.Part]:
        """The parts of the library's messages of the model, whose calls have the arguments with which the library runs
        their tools. Parts of chat completions have no order: calls are last."""
        arguments = {call.tool_call_id: call.arguments for call in calls}
        parts = [part for message in answered for part in message.to_dict()["parts"]]
        if self._dialect == "openai-chat":
            parts.sort(key=lambda part: part["type"] == "tool_call")
        for part in parts:
            signed = part.get("provider_metadata")
            data = self._issued(signed)
            match part["type"]:
                case "text":
                    yield messages.Text(part["text"])
                case "reasoning" if signed or part["text"]:
                    yield messages.Thought(part["text"], provider_data=data)
                case "tool_call":
                    id = part["tool_call_id"]
                    yield messages.FunctionCall(id, part["name"], arguments.get(id, part["arguments"]))

    def cancelled(self, events: Sequence[Any]) -> Iterator[messages.Part]:
        """What had arrived of an answer that was left: its text, and a thought whose signature had."""
        thoughts = [event for event in events if event.type == "reasoning"]
        if signed := [event.provider_metadata for event in thoughts if event.provider_metadata]:
            data = self._issued(signed[-1])
            yield messages.Thought("".join(event.chunk for event in thoughts), provider_data=data)
        if text := "".join(event.chunk for event in events if event.type == "text"):
            yield messages.Text(text)

    def _part(self, part: messages.Part) -> dict[str, Any]:
        match part:
            case messages.Text(text=text):
                return {"type": "text", "text": text}
            case messages.Thought(text=text, provider_data=data):
                if not data or (data.dialect, data.model) != (self._dialect, self._model):
                    return {}
                return {"type": "reasoning", "text": text, "provider_metadata": messages.thaw(data.data)}
            case messages.FunctionCall(id=id, name=name, args=args):
                return {"type": "tool_call", "tool_call_id": id, "name": name, "arguments": messages.thaw(args)}
            case messages.ToolResult():
                return _result(part)
            case messages.InlineData(mime_type=kind, data=data):
                content = base64.b64encode(data).decode()
                return {"type": "attachment", "attachment": {"type": kind, "content": content}}
            case messages.FileRef(mime_type=kind, uri=uri):
                return {"type": "attachment", "attachment": {"type": kind, "url": uri}}
        raise errors.InvalidRequestError(f"the library's messages have no part for {type(part).__name__}")


def finish_of(raw: Mapping[str, Any]) -> str | None:
    """The API's own finish word in what the library calls the raw JSON of a response."""
    choices: Sequence[Any] = raw.get("choices") or [raw]
    word = raw.get("stop_reason") or choices[0].get("finish_reason")
    return word if isinstance(word, str) else None


def token_usage(usage: Any) -> messages.TokenUsage:
    """The tokens of an answer. Those that were read from a cache are beside the input of Anthropic's."""
    prompt, output, details = usage.input or 0, usage.output or 0, usage.details or {}
    read, written = (details.get(f"cache_{name}_input_tokens") or 0 for name in ("read", "creation"))
    prompt += read + written
    read = read or (details.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    thinking = (details.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    return messages.TokenUsage(prompt, output, prompt + output, read, written, thinking)


def _result(result: messages.ToolResult) -> dict[str, Any]:
    """As the library's chains make it: the output of a tool that failed is the text of its exception, too."""
    text = result_text(result.result)
    written = {"type": "tool_result", "tool_call_id": result.call_id, "name": result.name, "output": text}
    return {**written, "output": f"Error: {text}", "exception": text} if result.is_error else written
