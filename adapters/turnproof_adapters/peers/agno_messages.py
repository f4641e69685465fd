"""Conversations in the message type of agno: one text, pictures and files beside it, calls as OpenAI writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from turnproof import messages as m

from .chat_messages import chat_call
from .issued_data import IssuedData, present
from .result_texts import result_text


class AgnoMessages(IssuedData):
    """Writes the arguments of the library's `Message`, and reads one, for the dialect and model that sign parts."""

    def write(self, history: Sequence[m.Message], system: Any) -> Iterator[dict[str, Any]]:
        """The arguments of each message. The library reads one system message, the first."""
        texts = [getattr(system, "text", system), *(message.text for message in history if message.role == "system")]
        if text := "\n\n".join(text for text in texts if text):
            yield {"role": "system", "content": text}
        for message in history:
            if message.role == "model":
                yield self._assistant(message)
            elif message.role == "user":
                texts = [part.text for part in message.parts if isinstance(part, m.Text)]
                yield {"role": "user", "content": "\n".join(texts), **media_arguments(message.parts)}
            yield from map(_result, message.results)

    def read(self, answer: Any) -> Iterator[m.Part]:
        """The parts of a message, which has one text and one thinking. What else it holds goes with the thinking."""
        own = dict(answer.provider_data or {})
        if answer.reasoning_content or own.get("signature") or answer.redacted_reasoning_content:
            redacted = answer.redacted_reasoning_content
            data = present(signature=own.get("signature"), redacted=redacted, message=json.dumps(own, default=str))
            yield m.Thought(answer.reasoning_content or "", provider_data=self._issued(data))
        if answer.content:
            signature = present(thought_signature=own.get("thought_signature"))
            yield m.Text(answer.content, provider_data=self._issued(signature))
        for call in answer.tool_calls or ():
            arguments = json.loads(call["function"]["arguments"] or "{}")
            signature = present(thought_signature=call.get("thought_signature"))
            yield m.FunctionCall(call["id"], call["function"]["name"], arguments, provider_data=self._issued(signature))

    def _assistant(self, message: m.Message) -> dict[str, Any]:
        fields: dict[str, Any] = {"content": message.text or None, "provider_data": {}}
        for part in message.parts:
            own = self._own(part)
            if isinstance(part, m.Thought) and own:
                fields["reasoning_content"] = part.text or None
                fields["redacted_reasoning_content"] = own.get("redacted")
                fields["provider_data"] |= json.loads(own.get("message", "{}"))
            elif isinstance(part, m.Text) and "thought_signature" in own:
                fields["provider_data"]["thought_signature"] = own["thought_signature"]
        calls = [chat_call(call) | self._own(call) for call in message.calls]
        return {"role": "assistant", "tool_calls": calls or None, **fields}


def _result(result: m.ToolResult) -> dict[str, Any]:
    text = result_text(result.result)
    own = {"tool_call_id": result.call_id, "tool_name": result.name, "tool_call_error": result.is_error}
    return {"role": "tool", "content": text, **own, **media_arguments(result.attachments)}


def media_arguments(parts: Sequence[m.Part]) -> dict[str, Any]:
    """Pictures and documents, which stand beside the text of a message: the arguments of the library's media."""
    images: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    for part in parts:
        match part:
            case m.InlineData(mime_type=kind, data=data) if kind.startswith("image/"):
                images.append({"content": data, "format": kind.removeprefix("image/"), "mime_type": kind})
            case m.InlineData(mime_type=kind, data=data):
                files.append({"content": data, "mime_type": kind, "filename": "document"})
            case m.FileRef(mime_type=kind, uri=uri):
                (images if kind.startswith("image/") else files).append({"url": uri, "mime_type": kind})
    return {name: media for name, media in (("images", images), ("files", files)) if media}
