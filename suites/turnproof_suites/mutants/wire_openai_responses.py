"""Where the Responses API keeps what mutants break."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from turnproof.dialects.base import SOCKET_METHOD, HttpRequest, Rendered, WireEvent
from turnproof.messages import FinishReason

from ._events import named_event
from ._items import ItemsWire
from ._openai import OpenAIWire, blocks_of, content_of, instruction_count, is_error_text
from ._wire import BlockKind, Json

_KINDS: dict[str, BlockKind] = {
    "message": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "text",
    "function_call": "call",
    "function_call_output": "result",
    "input_image": "image",
    "input_file": "document",
}

_FINISHES: dict[FinishReason, tuple[str, str | None]] = {
    FinishReason.STOP: ("completed", None),
    FinishReason.MAX_TOKENS: ("incomplete", "max_output_tokens"),
    FinishReason.SAFETY: ("incomplete", "content_filter"),
}
"""The status of a response, and the reason of one that is incomplete."""

_ENDS = ("response.completed", "response.incomplete")


class OpenAIResponsesWire(OpenAIWire, ItemsWire):
    """See `Wire`. The conversation is a flat list of items.

    After `to_messages` neighbouring items of the model are the blocks of one message, and neighbouring outputs those of
    another; the blocks of the user's messages are their content. Instructions in front stand apart.
    """

    call_id_key = "call_id"
    result_id_key = "call_id"
    head_key = "previous_response_id"
    system_key = "instructions"
    other_model = "gpt-5-codex"
    thought_type = "reasoning"
    seal_key = "encrypted_content"
    kinds = _KINDS
    default_type = "message"

    def is_request_for(self, request: HttpRequest) -> bool:
        return request.method in ("POST", SOCKET_METHOD) and request.path.endswith("/responses")

    # Requests

    def to_messages(self, body: Json) -> Json:
        wire_input = body.pop("input")
        items: list[Json] = [{"role": "user", "content": wire_input}] if isinstance(wire_input, str) else wire_input
        start = instruction_count(items)
        messages: list[Json] = []
        for role, run in groupby(items[start:], key=_speaker):
            if role in ("assistant", "tool"):
                messages.append({"role": role, "blocks": list(run)})
            else:
                messages += [_without(item, "content") | {"blocks": blocks_of(item["content"])} for item in run]
        return body | {"messages": messages, "front": items[:start]}

    def from_messages(self, body: Json) -> Json:
        items = [item for message in body["messages"] for item in _from_blocks(message)]
        return _without(body, "messages", "front") | {"input": [*body["front"], *items]}

    def text_block(self, text: str) -> Json:
        return {"type": "input_text", "text": text}

    def model_message(self, text: str) -> Json:
        return {"role": "assistant", "blocks": [{"role": "assistant", "content": text}]}

    def attachments(self, body: Json) -> Iterator[list[Json]]:
        for result in self.of_kind(body, "result"):
            if isinstance(result["output"], list):
                yield result["output"]

    def is_error(self, result: Json) -> bool:
        return is_error_text(result["output"])

    def replayed_names(self, body: Json) -> Iterator[tuple[Json, str]]:
        for call in self.of_kind(body, "call"):
            yield call, "name"

    def drop_system(self, body: Json) -> None:
        body.pop(self.system_key, None)
        body["front"] = []

    def drop_thinking_setting(self, body: Json) -> None:
        body.pop("reasoning", None)

    def has_schema(self, body: Json) -> bool:
        return ((body.get("text") or {}).get("format") or {}).get("type") == "json_schema"

    # What the service stores

    def without_what_is_gone(self, refused: Rendered) -> Rendered:
        """The code tells it."""
        code, other_code = b"previous_response_not_found", b"invalid_request_error"
        events = tuple(replace(event, data=event.data.replace(code, other_code)) for event in refused.events)
        return replace(refused, events=events)

    def answer_id(self, document: Json) -> str | None:
        return _response(document).get("id")

    def answer_message(self, document: Json) -> Json | None:
        output = _response(document).get("output")
        return {"role": "assistant", "blocks": list(output)} if output else None

    # Answers

    def with_document(self, event: WireEvent, document: Json) -> WireEvent:
        return named_event(event, document)

    def calls(self, document: Json) -> Iterator[tuple[Json, str]]:
        for item in (document.get("item"), *(_response(document).get("output") or ())):
            if isinstance(item, dict) and self.kind(item) == "call":
                yield item, "call_id"

    def final_usage(self, document: Json) -> Json | None:
        return _response(document).get("usage")

    def clear_cache_figures(self, usage: Json) -> None:
        usage["input_tokens_details"] = dict.fromkeys(usage["input_tokens_details"], 0)

    def finish(self, document: Json) -> FinishReason | None:
        response = _response(document)
        ending = response.get("status"), (response.get("incomplete_details") or {}).get("reason")
        return next((reason for reason, words in _FINISHES.items() if words == ending), None)

    def set_finish(self, document: Json, reason: FinishReason) -> None:
        response = _response(document)
        if self.finish(document) is not None:
            status, why = _FINISHES[reason]
            response.update(status=status, incomplete_details=None if why is None else {"reason": why})
        if document.get("type") in _ENDS:
            document["type"] = f"response.{response['status']}"

    def set_text(self, document: Json, text: str) -> None:
        document["delta"] = text


def _speaker(item: Json) -> str:
    """Who an item is of; all that is neither a message nor an output is of the model."""
    kind = str(item.get("type", "message"))
    return str(item["role"]) if kind == "message" else "tool" if kind.endswith("_output") else "assistant"


def _response(document: Json) -> Json:
    """The response that a part of an answer has, or is."""
    found: Json = document.get("response", document)
    return found if found.get("object") == "response" else {}


def _without(thing: Json, *names: str) -> Json:
    return {key: value for key, value in thing.items() if key not in names}


def _from_blocks(message: Json) -> Iterator[Json]:
    """The items of a message of blocks. What is said among items becomes a message of whoever says it."""
    if message["role"] not in ("assistant", "tool"):
        yield _without(message, "blocks") | {"content": content_of(message["blocks"], "input_text")}
        return
    role, kind = ("assistant", "output_text") if message["role"] == "assistant" else ("user", "input_text")
    for block in message["blocks"]:
        is_item = "role" in block or block["type"] not in ("input_text", "input_image", "input_file")
        yield block if is_item else {"role": role, "content": [block | {"type": kind}]}
