"""Where Google's Gemini API keeps what mutants break."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from turnproof.dialects.base import HttpRequest, WireEvent
from turnproof.messages import FinishReason

from ._events import document_of
from ._wire import BlockKind, Json, Wire

_FINISHES = {FinishReason.STOP: "STOP", FinishReason.MAX_TOKENS: "MAX_TOKENS", FinishReason.SAFETY: "SAFETY"}

_MEDIA = ("inlineData", "fileData", "inline_data", "file_data")
"""Inside a function's response the SDK spells fields as Python does, and the service takes that."""


class GeminiWire(Wire):
    """See `Wire`. Marks do not exist here: what would set them does nothing."""

    def is_request_for(self, request: HttpRequest) -> bool:
        return asks_for_answer(request) and "models/" in request.path

    # Requests

    def messages(self, body: Json) -> list[Json]:
        found: list[Json] = body["contents"]
        return found

    def spoken_by_model(self, message: Json) -> bool:
        return message.get("role") == "model"

    def blocks(self, message: Json) -> list[Json]:
        found: list[Json] = message.setdefault("parts", [])
        return found

    def kind(self, block: Json) -> BlockKind:
        if "functionCall" in block:
            return "call"
        if "functionResponse" in block:
            return "result"
        if "text" in block:
            return "thinking" if block.get("thought") else "text"
        media = next((block[name] for name in _MEDIA if name in block), None)
        if media is None:
            return "other"
        mime_type = media.get("mimeType", media.get("mime_type"))
        return "image" if str(mime_type).startswith("image/") else "document"

    def text_block(self, text: str) -> Json:
        return {"text": text}

    def blank_block(self) -> Json:
        return {}

    def user_message(self, text: str) -> Json:
        return {"role": "user", "parts": [self.text_block(text)]}

    def model_message(self, text: str) -> Json:
        return {"role": "model", "parts": [self.text_block(text)]}

    def attachments(self, body: Json) -> Iterator[list[Json]]:
        for result, parts in self._in_each(body, "functionResponse", "parts"):
            yield result[parts]

    def set_mark(self, block: Json) -> None:
        pass

    def clear_mark(self, block: Json) -> None:
        pass

    def is_error(self, result: Json) -> bool:
        return "error" in result["functionResponse"]["response"]

    def call_ids(self, body: Json) -> Iterator[tuple[Json, str]]:
        return self._in_each(body, "functionCall", "id")

    def result_ids(self, body: Json) -> Iterator[tuple[Json, str]]:
        return self._in_each(body, "functionResponse", "id")

    def strip_signature(self, block: Json) -> None:
        block.pop("thoughtSignature", None)

    def drop_thinking(self, message: Json) -> None:
        blocks = self.blocks(message)
        blocks[:] = [block for block in blocks if not block.get("thought")]
        for block in blocks:
            self.strip_signature(block)

    def edit_thinking(self, block: Json, edit: Callable[[str], str]) -> None:
        block["text"] = edit(block["text"])

    def tools(self, body: Json) -> list[Json]:
        declaring = (tool["functionDeclarations"] for tool in body.get("tools", ()) if "functionDeclarations" in tool)
        found: list[Json] = next(declaring, [])
        return found

    def declared_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for tool in self.tools(body):
            yield tool, "name"

    def replayed_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        yield from self._in_each(body, "functionCall", "name")
        yield from self._in_each(body, "functionResponse", "name")

    def drop_system(self, body: Json) -> None:
        body.pop("systemInstruction", None)

    def drop_tools(self, body: Json) -> None:
        body.pop("tools", None)
        body.pop("toolConfig", None)

    def drop_thinking_setting(self, body: Json) -> None:
        body.get("generationConfig", {}).pop("thinkingConfig", None)

    def has_schema(self, body: Json) -> bool:
        config = body.get("generationConfig", {})
        return "responseSchema" in config or "responseJsonSchema" in config

    def for_other_model(self, request: HttpRequest) -> HttpRequest:
        return replace(request, path=re.sub(r"models/[^:]+:", "models/gemini-2.5-flash-lite:", request.path))

    # Answers

    def document(self, event: WireEvent) -> Json | None:
        return document_of(event)

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        data = msgspec.json.encode(document)
        return replace(event, data=data if event.kind == "body" else b"data: %s\r\n\r\n" % data)

    def calls(self, document: Json) -> Iterator[tuple[Json, str]]:
        for part in _candidate(document).get("content", {}).get("parts", ()):
            if "id" in part.get("functionCall", ()):
                yield part["functionCall"], "id"

    def final_usage(self, document: Json) -> Json | None:
        return document.get("usageMetadata") if "finishReason" in _candidate(document) else None

    def clear_cache_figures(self, usage: Json) -> None:
        usage.pop("cachedContentTokenCount", None)

    def finish(self, document: Json) -> FinishReason | None:
        word = _candidate(document).get("finishReason")
        return next((reason for reason, name in _FINISHES.items() if name == word), None)

    def set_finish(self, document: Json, reason: FinishReason) -> None:
        candidate = _candidate(document)
        if "finishReason" in candidate:
            candidate["finishReason"] = _FINISHES[reason]

    def set_text(self, document: Json, text: str) -> None:
        _candidate(document)["content"]["parts"][0]["text"] = text

    def _in_each(self, body: Json, holder: str, key: str) -> Iterator[tuple[Json, str]]:
        """Where parts of one kind have something, as an object and its key."""
        for message in self.messages(body):
            for part in self.blocks(message):
                if key in part.get(holder, ()):
                    yield part[holder], key


def asks_for_answer(request: HttpRequest) -> bool:
    """Whether the method that a request names is one of the two that answer."""
    return request.method == "POST" and request.path.endswith((":generateContent", ":streamGenerateContent"))


def _candidate(document: Json) -> dict[str, Any]:
    candidates = document.get("candidates") or [{}]
    found: dict[str, Any] = candidates[0]
    return found
