"""Items of a response as neutral parts, whether they came whole or in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from turnproof.messages import JSON, FinishReason, FunctionCall, Opaque, Part, ProviderData, Text, Thought

from .._answer_items import Restore, parts_of_item
from .._characters import whole_characters
from .._decoding import decode_arguments
from .models import DIALECT

FINISH: Mapping[str | None, FinishReason] = {
    "completed": FinishReason.STOP,
    "cancelled": FinishReason.CANCELLED,
    "max_output_tokens": FinishReason.MAX_TOKENS,
    "content_filter": FinishReason.SAFETY,
}
"""Endings (`Answer.ending`); any other is `unknown` and stays readable in `raw_finish`."""

BETWEEN_THOUGHTS = "\n\n"
"""What stands between the texts of one reasoning item."""

_OPEN = ("in_progress", "incomplete")


def parts(item: Mapping[str, Any], model: str, restore: Restore) -> tuple[Part, ...]:
    """The parts that a finished item is; an item of an unknown type is kept as `Opaque`. Raises ValueError as
    `parts_of_item` does."""
    return parts_of_item(_parts(item, model, restore))


def _parts(item: Mapping[str, Any], model: str, restore: Restore) -> Iterator[Part]:
    match item:
        case {"type": "message", "content": list(content)}:
            for block in content:
                yield from _text_parts(block, item, model)
        case {"type": "reasoning"}:
            text, encrypted = thoughts(item), item.get("encrypted_content")
            issued = _issued(model, {"encrypted": encrypted}) if isinstance(encrypted, str) and encrypted else None
            if text or issued is not None:
                yield Thought(text, provider_data=issued)
        case {"type": "function_call"}:
            yield _call(item, model, restore)
        case _:
            kind = item.get("type")
            yield Opaque(DIALECT, kind if isinstance(kind, str) else "", dict(item))


def _text_parts(block: Any, item: Mapping[str, Any], model: str) -> Iterator[Part]:
    """One block of a message. Its phase is that of the message, which has to go back with it (`openai` 3.54)."""
    phase = item.get("phase")
    data: dict[str, Any] = {"phase": phase} if isinstance(phase, str) and phase else {}
    match block:
        case {"type": "output_text", "text": str(text)}:
            if block.get("annotations"):
                data["annotations"] = block["annotations"]
        case {"type": "refusal", "refusal": str(text)}:
            data["refusal"] = True
        case _:
            message = {"type": "message", "role": "assistant", "content": [block], **data}
            yield Opaque(DIALECT, "message", message)
            return
    if text:
        yield Text(whole_characters(text), provider_data=_issued(model, data) if data else None)


def thoughts(item: Mapping[str, Any]) -> str:
    """What can be read of a reasoning item: its summary, then its content, where the service shows any."""
    texts = [*_texts(item.get("summary")), *_texts(item.get("content"))]
    return whole_characters(BETWEEN_THOUGHTS.join(texts))


def _texts(blocks: JSON) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def is_refusal(part: Part) -> bool:
    """Whether the model declines in this part of one of our answers."""
    return isinstance(part, Text) and part.provider_data is not None and bool(part.provider_data.data.get("refusal"))


def _call(item: Mapping[str, Any], model: str, restore: Restore) -> FunctionCall:
    match item:
        case {"call_id": str(call_id), "name": str(name), "arguments": str(text)} if item.get("status") not in _OPEN:
            data = {key: item[key] for key in ("caller", "namespace") if item.get(key)}
            if data.get("caller") == {"type": "direct"}:
                del data["caller"]
            issued = _issued(model, data) if data else None
            own = whole_characters(restore(name))
            return FunctionCall(whole_characters(call_id), own, _arguments(text), provider_data=issued)
    raise ValueError("not a whole tool call")


def _arguments(text: str) -> dict[str, Any]:
    found = decode_arguments(text) if text.strip() else {}
    if not isinstance(found, dict):
        raise ValueError("arguments are an object")
    return found


def finish_reason(ending: str | None, answer_parts: tuple[Part, ...]) -> FinishReason:
    """The neutral reason. The API has one status for an answer, a refusal and calls: what came says which it was."""
    reason = FINISH.get(ending, FinishReason.UNKNOWN)
    if reason is not FinishReason.STOP:
        return reason
    if any(isinstance(part, FunctionCall) for part in answer_parts):
        return FinishReason.TOOL_USE
    return FinishReason.REFUSAL if any(map(is_refusal, answer_parts)) else reason


def _issued(model: str, data: dict[str, Any]) -> ProviderData:
    return ProviderData(DIALECT, model, data)
