"""Answers as llama.cpp's own server writes them, made of those that OpenAI gives.

Measured (xllamacpp 2026.10): a response says nothing of what was asked, and is complete also where the limit of tokens
cut it off. Events have no numbers and no places, pieces of reasoning come as text, and all that ends comes at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

Json = dict[str, Any]

_RESPONSE = ("completed_at", "created_at", "id", "model", "object", "output", "status", "usage")
_OPENED = ("id", "object", "status")
_LEFT_OUT = frozenset({"sequence_number", "output_index", "content_index", "summary_index", "logprobs"})
_AT_THE_END = (".done",)
_UNSENT = ("response.reasoning_summary_part.added", "response.function_call_arguments.done")
_REASONING = {"response.reasoning_summary_text.delta": "response.reasoning_text.delta"}


def item(found: Json) -> Json:
    """An item of an answer."""
    if found["type"] == "reasoning":
        text = "".join(block["text"] for block in found["summary"])
        content = [{"text": text, "type": "reasoning_text"}] if text else []
        return {"id": found["id"], "summary": [], "type": "reasoning", "content": content, "encrypted_content": ""}
    return {**found, "status": "completed"} if "status" in found else found


def response(found: Json) -> Json:
    """A whole response."""
    usage = dict(found.get("usage") or {})
    usage.pop("output_tokens_details", None)
    if "input_tokens_details" in usage:
        usage["input_tokens_details"] = {"cached_tokens": usage["input_tokens_details"]["cached_tokens"]}
    whole = {**found, "status": "completed", "completed_at": found["created_at"], "usage": usage}
    return {name: whole[name] for name in _RESPONSE} | {"output": [item(each) for each in found["output"]]}


def events(found: Iterable[tuple[str, Json]]) -> Iterator[tuple[int, str, Json]]:
    """The events of a stream, each with the number that it had in the stream which it is made of."""
    numbered = [(n, name, data) for n, (name, data) in enumerate(found)]
    first = [each for each in numbered if not each[1].endswith(_AT_THE_END)]
    ends = [each for each in numbered if each[1].endswith(_AT_THE_END)]
    for n, name, data in (*first[:-1], *ends, *first[-1:]):
        if (name not in _UNSENT and not name.startswith("response.reasoning_summary")) or name in _REASONING:
            yield n, _REASONING.get(name, name), _event(name, data)


def _event(name: str, data: Json) -> Json:
    own = {key: value for key, value in data.items() if key not in _LEFT_OUT}
    if "item" in own:
        own["item"] = item(own["item"])
        if name.endswith(".added"):
            own["item"] = {**own["item"], "status": "in_progress"}
            own["item"] |= {"content": []} if own["item"]["type"] == "reasoning" else {}
    if "response" in own:
        opened = own["response"]["status"] == "in_progress"
        own["response"] = {n: own["response"][n] for n in _OPENED} if opened else response(own["response"])
    return own
