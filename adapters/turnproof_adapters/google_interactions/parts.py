"""Steps of an interaction as neutral parts, whether they came whole or in pieces."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from turnproof import messages as m

from .. import _answer_items
from .._answer_items import Restore, parts_of_item
from .._characters import whole_characters
from .models import DIALECT

FINISH: Mapping[str | None, m.FinishReason] = {
    "completed": m.FinishReason.STOP,
    "requires_action": m.FinishReason.TOOL_USE,
    "incomplete": m.FinishReason.MAX_TOKENS,
    "budget_exceeded": m.FinishReason.MAX_TOKENS,
    "requires_continuation": m.FinishReason.PAUSED,
    "cancelled": m.FinishReason.CANCELLED,
}
"""Statuses of an interaction that has ended; any other is `unknown` and stays readable in `raw_finish`."""

_MEDIA = ("image", "audio", "video", "document")


def parts(step: Mapping[str, Any], model: str, restore: Restore) -> tuple[m.Part, ...]:
    """The parts that a finished step is; one of an unknown type is kept as `Opaque`. Raises ValueError as
    `parts_of_item` does."""
    return parts_of_item(_parts(step, model, restore))


def _parts(step: Mapping[str, Any], model: str, restore: Restore) -> Iterator[m.Part]:
    match step:
        case {"type": "model_output"}:
            for content in _objects(step.get("content")):
                yield from _content(content, model)
        case {"type": "thought"}:
            text, signature = summary(step), step.get("signature")
            issued = _issued(model, {"signature": signature}) if isinstance(signature, str) and signature else None
            if text or issued is not None:
                yield m.Thought(text, provider_data=issued)
        case {"type": "function_call"}:
            yield _call(step, restore)
        case _:
            kind = step.get("type")
            yield m.Opaque(DIALECT, kind if isinstance(kind, str) else "", dict(step))


def _content(content: Mapping[str, Any], model: str) -> Iterator[m.Part]:
    match content:
        case {"type": "text", "text": str(text)}:
            annotations = content.get("annotations")
            if text:
                issued = _issued(model, {"annotations": annotations}) if annotations else None
                yield m.Text(whole_characters(text), provider_data=issued)
        case {"type": str(kind), "data": str(data), "mime_type": str(mime)} if kind in _MEDIA:
            yield m.InlineData(mime, b64decode(data))
        case {"type": str(kind), "uri": str(uri), "mime_type": str(mime)} if kind in _MEDIA:
            yield m.FileRef(mime, uri)
        case _:
            yield m.Opaque(DIALECT, "model_output", {"type": "model_output", "content": [dict(content)]})


def summary(step: Mapping[str, Any]) -> str:
    """What can be read of a thought. Its pieces end with their own line breaks."""
    found = [each["text"] for each in _objects(step.get("summary")) if isinstance(each.get("text"), str)]
    return whole_characters("".join(found))


def _objects(value: m.JSON) -> Iterator[Mapping[str, Any]]:
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict):
            yield each


unreadable = partial(_answer_items.unreadable, noun="a step")


def _call(step: Mapping[str, Any], restore: Restore) -> m.FunctionCall:
    match step:
        case {"id": str(call_id), "name": str(name), "arguments": dict(arguments)}:
            return m.FunctionCall(whole_characters(call_id), whole_characters(restore(name)), arguments)
    raise ValueError("not a whole tool call")


def finish_reason(status: str | None, answer_parts: tuple[m.Part, ...]) -> m.FinishReason:
    """The neutral reason. Whatever the status of an answer that came to its end, calls have to be answered."""
    reason = FINISH.get(status, m.FinishReason.UNKNOWN)
    if reason is m.FinishReason.STOP and any(isinstance(part, m.FunctionCall) for part in answer_parts):
        return m.FinishReason.TOOL_USE
    return reason


def _issued(model: str, data: dict[str, Any]) -> m.ProviderData:
    return m.ProviderData(DIALECT, model, data)
