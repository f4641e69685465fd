"""Where the chat completions API keeps what mutants break, whoever serves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import msgspec

from turnproof.dialects.base import HttpRequest, WireEvent
from turnproof.messages import FinishReason

from ._openai import OpenAIWire, blocks_of, content_of, instruction_count, is_error_text
from ._wire import BlockKind, Json

_KINDS: dict[str, BlockKind] = {
    "text": "text",
    "refusal": "text",
    "reasoning": "thinking",
    "function": "call",
    "image_url": "image",
    "file": "document",
}

_THOUGHTS = ("reasoning_content", "reasoning_text", "reasoning")
_SEAL = "reasoning_opaque"

_FINISHES = {
    FinishReason.STOP: "stop",
    FinishReason.MAX_TOKENS: "length",
    FinishReason.TOOL_USE: "tool_calls",
    FinishReason.SAFETY: "content_filter",
}

_OTHER_MODEL = "gpt-4o-mini"


class OpenAIChatWire(OpenAIWire):
    """See `Wire`. After `to_messages` a message has content, calls and what was thought in one list, `blocks`.

    Neighbouring results, each a message of its own on the wire, are the blocks of one message. Instructions in front
    stand apart.
    """

    call_id_key = "id"
    result_id_key = "tool_call_id"

    def is_request_for(self, request: HttpRequest) -> bool:
        return request.method == "POST" and request.path.endswith("/chat/completions")

    # Requests

    def to_messages(self, body: Json) -> Json:
        wire_messages: list[Json] = body["messages"]
        start = instruction_count(wire_messages)
        messages: list[Json] = []
        for is_result, neighbours in groupby(wire_messages[start:], key=_is_result):
            run = list(neighbours)
            messages += [{"role": "tool", "blocks": run}] if is_result else map(_to_blocks, run)
        return body | {"messages": messages, "front": wire_messages[:start]}

    def from_messages(self, body: Json) -> Json:
        messages = [wire for message in body["messages"] for wire in _from_blocks(message)]
        rest = {name: value for name, value in body.items() if name != "front"}
        return rest | {"messages": [*body["front"], *messages]}

    def kind(self, block: Json) -> BlockKind:
        return "result" if _is_result(block) else _KINDS.get(block.get("type", "text"), "other")

    def text_block(self, text: str) -> Json:
        return {"type": "text", "text": text}

    def model_message(self, text: str) -> Json:
        return {"role": "assistant", "blocks": blocks_of(text)}

    def attachments(self, body: Json) -> Iterator[list[Json]]:
        """Results hold text alone: the user shows, right behind them, what is attached."""
        is_after_tool = False
        for message in self.messages(body):
            is_after_tool = message["role"] == "tool" or (is_after_tool and message["role"] == "user")
            if is_after_tool and message["role"] == "user":
                yield message["blocks"]

    def is_error(self, result: Json) -> bool:
        return is_error_text(result["content"])

    def strip_signature(self, block: Json) -> None:
        block.pop(_SEAL, None)

    def edit_thinking(self, block: Json, edit: Callable[[str], str]) -> None:
        block.update({name: edit(block[name]) for name in _THOUGHTS if name in block})

    def declared_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for tool in self.tools(body):
            yield tool["function"], "name"

    def replayed_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for call in self.of_kind(body, "call"):
            yield call["function"], "name"

    def drop_system(self, body: Json) -> None:
        body["front"] = []

    def drop_thinking_setting(self, body: Json) -> None:
        for name in ("reasoning_effort", "thinking"):
            body.pop(name, None)

    def has_schema(self, body: Json) -> bool:
        return (body.get("response_format") or {}).get("type") == "json_schema"

    def for_other_model(self, request: HttpRequest) -> HttpRequest:
        body = msgspec.json.decode(request.body)
        publisher, slash, _ = body["model"].rpartition("/")
        return replace(request, body=msgspec.json.encode(body | {"model": f"{publisher}{slash}{_OTHER_MODEL}"}))

    # Answers

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        data = msgspec.json.encode(document)
        return replace(event, data=data if event.kind == "body" else b"data: %s\n\n" % data)

    def calls(self, document: Json) -> Iterator[tuple[Json, str]]:
        for choice in document.get("choices") or ():
            for call in _message_of(choice).get("tool_calls") or ():
                if "id" in call:
                    yield call, "id"

    def final_usage(self, document: Json) -> Json | None:
        return document.get("usage")

    def clear_cache_figures(self, usage: Json) -> None:
        details = usage.get("prompt_tokens_details") or {}
        details.update(dict.fromkeys(details, 0))

    def finish(self, document: Json) -> FinishReason | None:
        words = [choice.get("finish_reason") for choice in document.get("choices") or ()]
        return next((reason for reason, name in _FINISHES.items() if name in words), None)

    def set_finish(self, document: Json, reason: FinishReason) -> None:
        for choice in document.get("choices") or ():
            if choice.get("finish_reason"):
                choice["finish_reason"] = _FINISHES[reason]

    def set_text(self, document: Json, text: str) -> None:
        document["choices"][0]["delta"]["content"] = text


def _is_result(message: Json) -> bool:
    return message.get("role") == "tool"


def _message_of(choice: Json) -> Json:
    message: Json = choice.get("delta") or choice.get("message") or {}
    return message


def _to_blocks(message: Json) -> Json:
    fields = dict(message)
    thoughts = {name: fields.pop(name) for name in (*_THOUGHTS, _SEAL) if fields.get(name)}
    blocks = [{"type": "reasoning", **thoughts}] if thoughts else []
    if fields.get("content") is not None:
        blocks += blocks_of(fields.pop("content"))
    return fields | {"blocks": blocks + (fields.pop("tool_calls", None) or [])}


def _from_blocks(message: Json) -> Iterator[Json]:
    """The wire messages of a message of blocks: results stand by themselves, whatever is put between them."""
    if not message["blocks"]:
        yield _message(message, [])
    for is_result, run in groupby(message["blocks"], key=_is_result):
        if is_result:
            yield from run
        else:
            yield _message(message, list(run))


def _message(message: Json, blocks: list[Json]) -> Json:
    """One wire message. The user says what stands among results."""
    fields: dict[str, Any] = {name: value for name, value in message.items() if name != "blocks"}
    fields["role"] = "user" if _is_result(message) else message["role"]
    calls = [block for block in blocks if block.get("type") == "function"]
    thoughts = [block for block in blocks if block.get("type") == "reasoning"]
    content = [block for block in blocks if block.get("type") not in ("function", "reasoning")]
    if content or not calls:
        fields["content"] = content_of(content, "text")
    for thought in thoughts:
        fields |= {name: value for name, value in thought.items() if name != "type"}
    return fields | ({"tool_calls": calls} if calls else {})
