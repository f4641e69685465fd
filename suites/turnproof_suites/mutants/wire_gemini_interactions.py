"""Where Google's Interactions API keeps what mutants break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

import msgspec

from turnproof.dialects.base import HttpRequest, Rendered, WireEvent
from turnproof.messages import FinishReason

from ._items import ItemsWire
from ._wire import BlockKind, Json

_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "image": "image",
    "document": "document",
    "function_call": "call",
    "function_result": "result",
}
_FINISHES: dict[FinishReason, str] = {FinishReason.STOP: "completed", FinishReason.MAX_TOKENS: "incomplete"}


class GeminiInteractionsWire(ItemsWire):
    """See `Wire`. The conversation is a flat list of steps; marks do not exist, and what would set them does nothing.

    After `to_messages` neighbouring steps of the model are the blocks of one message, and neighbouring results those of
    another; the blocks of the user's messages are their content. A text of the model is a block by itself.
    """

    call_id_key = "id"
    result_id_key = "call_id"
    head_key = "previous_interaction_id"
    system_key = "system_instruction"
    other_model = "gemini-2.5-flash"
    thought_type = "thought"
    seal_key = "signature"
    kinds = _KINDS

    def is_request_for(self, request: HttpRequest) -> bool:
        return request.method == "POST" and request.path.endswith("/interactions")

    # Requests

    def to_messages(self, body: Json) -> Json:
        wire_input = body.pop("input")
        steps: list[Json] = (
            [_user_step([{"type": "text", "text": wire_input}])] if isinstance(wire_input, str) else wire_input
        )
        messages: list[Json] = []
        for role, run in groupby(steps, key=_speaker):
            if role == "user":
                messages += [{"role": role, "blocks": list(step.get("content") or ())} for step in run]
            else:
                messages.append({"role": role, "blocks": [_block(step) for step in run]})
        return body | {"messages": messages}

    def from_messages(self, body: Json) -> Json:
        steps = [step for message in body["messages"] for step in _steps(message)]
        return {name: value for name, value in body.items() if name != "messages"} | {"input": steps}

    def blocks(self, message: Json) -> list[Json]:
        found: list[Json] = message["blocks"]
        return found

    def text_block(self, text: str) -> Json:
        return {"type": "text", "text": text}

    def user_message(self, text: str) -> Json:
        return {"role": "user", "blocks": [self.text_block(text)]}

    def model_message(self, text: str) -> Json:
        return {"role": "assistant", "blocks": [self.text_block(text)]}

    def attachments(self, body: Json) -> Iterator[list[Json]]:
        for result in self.of_kind(body, "result"):
            if isinstance(result["result"], list):
                yield result["result"]

    def set_mark(self, block: Json) -> None:
        return

    def clear_mark(self, block: Json) -> None:
        return

    def is_error(self, result: Json) -> bool:
        return result.get("is_error") is True

    def drop_thinking(self, message: Json) -> None:
        message["blocks"] = [block for block in message["blocks"] if self.kind(block) != "thinking"]

    def replayed_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for block in (*self.of_kind(body, "call"), *self.of_kind(body, "result")):
            if "name" in block:
                yield block, "name"

    def drop_system(self, body: Json) -> None:
        body.pop(self.system_key, None)

    def drop_tools(self, body: Json) -> None:
        body.pop("tools", None)
        body.get("generation_config", {}).pop("tool_choice", None)

    def drop_thinking_setting(self, body: Json) -> None:
        for name in ("thinking_level", "thinking_summaries"):
            body.get("generation_config", {}).pop(name, None)

    def has_schema(self, body: Json) -> bool:
        return "schema" in (body.get("response_format") or {})

    # Answers

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        data = msgspec.json.encode(document)
        if event.kind != "body":
            data = b"event: %s\ndata: %s\n\n" % (str(document.get("event_type")).encode(), data)
        return replace(event, data=data)

    def calls(self, document: Json) -> Iterator[tuple[Json, str]]:
        for step in (document.get("step"), *(_interaction(document).get("steps") or ())):
            if isinstance(step, dict) and self.kind(step) == "call":
                yield step, "id"

    def final_usage(self, document: Json) -> Json | None:
        return _interaction(document).get("usage")

    def clear_cache_figures(self, usage: Json) -> None:
        usage["total_cached_tokens"] = 0

    def finish(self, document: Json) -> FinishReason | None:
        status = _interaction(document).get("status")
        return next((reason for reason, word in _FINISHES.items() if word == status), None)

    def set_finish(self, document: Json, reason: FinishReason) -> None:
        if self.finish(document) is not None:
            _interaction(document)["status"] = _FINISHES[reason]

    def set_text(self, document: Json, text: str) -> None:
        document["delta"]["text"] = text

    # What the service stores

    def without_what_is_gone(self, refused: Rendered) -> Rendered:
        """The status alone tells it."""
        return replace(refused, status=400) if refused.status in (403, 404) else refused

    def answer_id(self, document: Json) -> str | None:
        return _interaction(document).get("id")

    def answer_message(self, document: Json) -> Json | None:
        steps = _interaction(document).get("steps")
        return {"role": "assistant", "blocks": [_block(step) for step in steps]} if steps else None


def _user_step(content: list[Json]) -> Json:
    return {"type": "user_input", "content": content}


def _speaker(step: Json) -> str:
    """Who a step is of."""
    return {"user_input": "user", "function_result": "tool"}.get(str(step.get("type")), "assistant")


def _block(step: Json) -> Json:
    """A step of the model or a result as a block: one content of its own by itself, anything else as it is."""
    content = step.get("content")
    if step.get("type") == "model_output" and isinstance(content, list) and len(content) == 1:
        found: Json = content[0]
        return found
    return step


def _steps(message: Json) -> Iterator[Json]:
    """The steps of a message of blocks. What is said among steps becomes a step of whoever says it."""
    if message["role"] == "user":
        yield _user_step(message["blocks"])
        return
    for block in message["blocks"]:
        if block.get("type") not in ("text", "image", "document"):
            yield block
        elif message["role"] == "tool":
            yield _user_step([block])
        else:
            yield {"type": "model_output", "content": [block]}


def _interaction(document: Json) -> Json:
    """The interaction that a part of an answer has, or is."""
    found: Json = document.get("interaction", document)
    return found if found.get("object") == "interaction" else {}
