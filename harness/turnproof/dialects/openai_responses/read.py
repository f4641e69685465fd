"""An answer read from its bytes alone: batch or stream, whole, cut, or an error under any status.

Reading never raises on what a server might send. Unknown events and items are ignored or kept as `Opaque`; what was cut
is reported by `complete` and `broken_calls`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...messages import JSON, FunctionCall, Part, TokenUsage
from ..base import WireAnswer
from ..lenient_reading import json_of, message_of, not_json, number, read_safely, wait, word
from .finishes import Ending, neutral
from .framing import documents, error_headers, is_refusal_on_socket, is_stream
from .items import arguments_of, id_of, is_refusal, kind_of, read_item

Json = dict[str, Any]


def read_response(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    """The answer in neutral form; never raises."""
    refused = is_refusal_on_socket(status, headers)
    if is_stream(headers, body) and not refused:
        read = partial(_read_stream, status, headers, body)
    else:
        read = partial(_read_batch, status, body)
    return replace(read_safely(status, read), retry_after=wait(error_headers(body) if refused else headers))


def _read_batch(status: int, body: bytes) -> WireAnswer:
    found = json_of(body)
    if not isinstance(found, dict):
        return not_json(status, body)
    error = found.get("error")
    if status >= 400 and isinstance(error, str):
        return WireAnswer(status, error_kind=word(found.get("code")), error_message=error)
    if status >= 400 or (isinstance(error, dict) and "output" not in found):
        return WireAnswer(status, error_kind=_kind(error), error_message=message_of(error))
    if found.get("object") == "response.input_tokens":
        counted = number(found, "input_tokens")
        return WireAnswer(status, usage=TokenUsage(prompt_tokens=counted, total_tokens=counted))
    output = found.get("output")
    items = [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
    return _answer(status, found, items, complete=True)


def _kind(error: JSON) -> str | None:
    """The code of an error, or else its type."""
    return (word(error.get("code")) or word(error.get("type"))) if isinstance(error, dict) else None


def _answer(status: int, response: Json, items: list[Json], *, complete: bool) -> WireAnswer:
    """What a response says, with its items as they arrived."""
    model = str(response.get("model", ""))
    broken = [item for item in items if _is_broken(item)]
    whole = [item for item in items if not _is_broken(item)]
    parts: list[Part] = [part for item in whole for part in read_item(item, model)]
    details = response.get("incomplete_details")
    reason = word(details.get("reason")) if isinstance(details, dict) else None
    status_word = word(response.get("status"))
    ending = Ending(status_word, reason) if status_word is not None and status_word != "in_progress" else None
    calls = any(isinstance(part, FunctionCall) for part in parts)
    refused = any(map(is_refusal, whole))
    error = response.get("error")
    return WireAnswer(
        status,
        parts=tuple(parts),
        usage=usage_of(response.get("usage")),
        finish=neutral(ending, calls=calls, refused=refused) if ending else None,
        raw_finish=ending.word if ending else None,
        finish_word=neutral(ending, calls=calls, refused=False) if ending and refused else None,
        complete=complete and not isinstance(error, dict),
        broken_calls=len(broken),
        error_kind=_kind(error),
        error_message=message_of(error),
        names=tuple(name for name in map(id_of, (response, *items)) if name is not None),
        model=model or None,
    )


def _is_broken(item: Json) -> bool:
    """A call whose arguments never became whole."""
    if kind_of(item) != "function_call":
        return False
    return item.get("status") in ("in_progress", "incomplete") or arguments_of(item) is None


def usage_of(usage: JSON) -> TokenUsage | None:
    """The API's usage in neutral figures: cached tokens are part of the input, reasoning is part of the output."""
    if not isinstance(usage, dict):
        return None
    prompt, output = number(usage, "input_tokens"), number(usage, "output_tokens")
    input_details, output_details = usage.get("input_tokens_details"), usage.get("output_tokens_details")
    cached = number(input_details, "cached_tokens") if isinstance(input_details, dict) else 0
    written = number(input_details, "cache_write_tokens") if isinstance(input_details, dict) else 0
    thought = number(output_details, "reasoning_tokens") if isinstance(output_details, dict) else 0
    return TokenUsage(prompt, output, prompt + output, cached, written, thought)


# -- streams


@dataclass(slots=True)
class _Stream:
    """What the events have said so far: the items by their place, and the response as it was last told."""

    response: Json = field(default_factory=dict)
    items: dict[int, Json] = field(default_factory=dict)
    ended: bool = False
    damaged: bool = False
    error: Json | None = None
    _named: dict[str, int] = field(default_factory=dict)

    def read_event(self, event: JSON) -> None:
        """One event; unknown ones change nothing."""
        match event:
            case {"type": "response.output_item.added" | "response.output_item.done", "item": dict(item)}:
                if (place := self._place_of(event, item.get("id"))) is not None:
                    self.items[place] = dict(item)
            case {"type": "response.completed" | "response.incomplete" | "response.failed", "response": dict(response)}:
                self.response, self.ended = response, True
            case {"type": "response.created" | "response.in_progress" | "response.queued", "response": dict(response)}:
                self.response = response
            case {"type": "error"}:
                nested = event.get("error")
                self.error = nested if isinstance(nested, dict) else _flat(event)
            case {"error": dict(error)}:
                self.error = error
            case {"type": str(kind)} if (place := self._place_of(event, event.get("item_id"))) in self.items:
                _extend(self.items[place], kind, event)

    def _place_of(self, event: Json, name: JSON) -> int | None:
        """The place of an event's item. A server that leaves the numbers out names the item in each event."""
        if "output_index" in event:
            place = event["output_index"]
            return place if type(place) is int else None
        if not isinstance(name, str):
            return None
        return self._named.setdefault(name, len(self._named))


def _flat(event: Json) -> Json:
    """An error event that is the error itself, as documented; others hold one."""
    return {name: event.get(name) for name in ("code", "message")}


def _extend(item: Json, kind: str, event: Json) -> None:
    """What a delta adds to an item that is still open."""
    match kind, event:
        case ("response.output_text.delta", {"delta": str(text)}):
            _add(item, "content", event, {"type": "output_text", "text": ""}, "text", text)
        case ("response.refusal.delta", {"delta": str(text)}):
            _add(item, "content", event, {"type": "refusal", "refusal": ""}, "refusal", text)
        case ("response.reasoning_text.delta", {"delta": str(text)}):
            _add(item, "content", event, {"type": "reasoning_text", "text": ""}, "text", text)
        case ("response.reasoning_summary_text.delta", {"delta": str(text)}):
            _add(item, "summary", event, {"type": "summary_text", "text": ""}, "text", text)
        case ("response.function_call_arguments.delta", {"delta": str(text)}):
            item["arguments"] = str(item.get("arguments") or "") + text
        case ("response.function_call_arguments.done", {"arguments": str(text)}):
            item |= {"arguments": text, "status": "completed"}


def _add(item: Json, member: str, event: Json, empty: Json, name: str, text: str) -> None:
    """Put a piece of text at the end of the block that the event names."""
    value = item.get(member)
    blocks = list(value) if isinstance(value, list) else []
    place = event.get("summary_index" if member == "summary" else "content_index", 0)
    while type(place) is int and len(blocks) <= place < _MOST_BLOCKS:
        blocks.append(dict(empty))
    if blocks and isinstance(blocks[-1], dict):
        blocks[-1] = blocks[-1] | {name: str(blocks[-1].get(name) or "") + text}
    item[member] = blocks


_MOST_BLOCKS = 1000
"""No item has so many; a number beyond it is none to make room for."""


def _read_stream(status: int, headers: Mapping[str, str], body: bytes) -> WireAnswer:
    stream = _Stream()
    for event in documents(headers, body):
        stream.damaged = stream.damaged or event is None
        stream.read_event(event)
    last = _items_without_events(stream.response)
    items = [_as_told_last(item, last) for _, item in sorted(stream.items.items())] or last
    complete = stream.ended and not stream.damaged and stream.error is None
    answer = _answer(status, stream.response, items, complete=complete)
    if stream.error is None:
        return answer
    return replace(answer, error_kind=_kind(stream.error), error_message=message_of(stream.error))


def _as_told_last(item: Json, last: list[Json]) -> Json:
    """An item of the service's own tools as the end of the response has it: recorded, a list of tools that is empty in
    the events of its own, and filled there (PA test_openai_responses_model_mcp_list_tools_stream_backfills_…)."""
    if kind_of(item) in ("message", "reasoning", "function_call"):
        return item
    return next((each for each in last if each.get("id") == item.get("id") and kind_of(each) == kind_of(item)), item)


def _items_without_events(response: Json) -> list[Json]:
    """The items of a response whose own events did not come."""
    output = response.get("output")
    return [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []
