"""Where Anthropic's Messages API keeps what mutants break; Z.ai and Ollama serve the same bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import msgspec

from turnproof.dialects.base import HttpRequest, WireEvent
from turnproof.messages import FinishReason

from ._events import named_event
from ._typed_blocks import TypedBlocks
from ._wire import BlockKind, Json

_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "redacted",
    "tool_use": "call",
    "tool_result": "result",
    "image": "image",
    "document": "document",
}

_FINISHES = {
    FinishReason.STOP: "end_turn",
    FinishReason.MAX_TOKENS: "max_tokens",
    FinishReason.TOOL_USE: "tool_use",
    FinishReason.REFUSAL: "refusal",
}

_OTHER_MODELS = {"claude-": "claude-haiku-4-5", "glm-": "glm-4.5-air"}
"""Another model of the service whose models are named like this; any name is one of Ollama's."""

_OTHER_OF_OLLAMA = "llama3.2"

_CACHE_FIGURES = ("cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicWire(TypedBlocks):
    """See `Wire`."""

    call_id_key = "id"
    result_id_key = "tool_use_id"

    def is_request_for(self, request: HttpRequest) -> bool:
        return request.method == "POST" and request.path.endswith("/v1/messages")

    # Requests

    def blocks(self, message: Json) -> list[Json]:
        if isinstance(message["content"], str):  # the short form of a single text block
            message["content"] = [self.text_block(message["content"])]
        found: list[Json] = message["content"]
        return found

    def kind(self, block: Json) -> BlockKind:
        return _KINDS.get(block["type"], "other")

    def text_block(self, text: str) -> Json:
        return {"type": "text", "text": text}

    def user_message(self, text: str) -> Json:
        return {"role": "user", "content": [self.text_block(text)]}

    def model_message(self, text: str) -> Json:
        return {"role": "assistant", "content": [self.text_block(text)]}

    def attachments(self, body: Json) -> Iterator[list[Json]]:
        for result in self.of_kind(body, "result"):
            if isinstance(result.get("content"), list):
                yield result["content"]

    def set_mark(self, block: Json) -> None:
        block["cache_control"] = {"type": "ephemeral"}

    def clear_mark(self, block: Json) -> None:
        block.pop("cache_control", None)

    def is_error(self, result: Json) -> bool:
        return bool(result.get("is_error"))

    def strip_signature(self, block: Json) -> None:
        if block["type"] == "thinking":
            block["signature"] = ""

    def drop_thinking(self, message: Json) -> None:
        blocks = self.blocks(message)
        blocks[:] = [block for block in blocks if block["type"] != "thinking"]

    def edit_thinking(self, block: Json, edit: Callable[[str], str]) -> None:
        block["thinking"] = edit(block["thinking"])

    def declared_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for tool in self.tools(body):
            yield tool, "name"

    def replayed_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for call in self.of_kind(body, "call"):
            yield call, "name"

    def drop_system(self, body: Json) -> None:
        body.pop("system", None)

    def drop_tools(self, body: Json) -> None:
        body.pop("tools", None)
        body.pop("tool_choice", None)

    def drop_thinking_setting(self, body: Json) -> None:
        body.pop("thinking", None)

    def has_schema(self, body: Json) -> bool:
        return "output_format" in body or "format" in (body.get("output_config") or {})

    def for_other_model(self, request: HttpRequest) -> HttpRequest:
        body = msgspec.json.decode(request.body)
        others = (other for start, other in _OTHER_MODELS.items() if body["model"].startswith(start))
        body["model"] = next(others, _OTHER_OF_OLLAMA)
        return replace(request, body=msgspec.json.encode(body))

    # Answers

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        return named_event(event, document)

    def calls(self, document: Json) -> Iterator[tuple[Json, str]]:
        for block in (document.get("content_block"), *(document.get("content") or ())):
            if isinstance(block, dict) and self.kind(block) == "call":
                yield block, "id"

    def final_usage(self, document: Json) -> Json | None:
        return document.get("usage") if document.get("type") in ("message", "message_delta") else None

    def clear_cache_figures(self, usage: Json) -> None:
        for figure in _CACHE_FIGURES:
            usage[figure] = 0

    def finish(self, document: Json) -> FinishReason | None:
        word = document.get("delta", document).get("stop_reason")
        return next((reason for reason, name in _FINISHES.items() if name == word), None)

    def set_finish(self, document: Json, reason: FinishReason) -> None:
        holder = document.get("delta", document)
        if "stop_reason" in holder:
            holder["stop_reason"] = _FINISHES[reason]

    def set_text(self, document: Json, text: str) -> None:
        document["delta"]["text"] = text
