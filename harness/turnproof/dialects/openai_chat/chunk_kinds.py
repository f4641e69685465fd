"""What a chunk of a stream is as an event, by what it holds: the same for those we write and those we read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...messages import JSON
from ..base import EventKind
from ..lenient_reading import word
from .surface_table import THOUGHTS


def kind_of(chunk: JSON) -> tuple[EventKind, str]:
    """The kind of a chunk, and the visible text that it adds.

    `end` is the chunk that says how the answer ended: the official client swallows the `[DONE]` behind it, so nobody
    can be asked to miss it. A chunk that holds nothing of an answer counts as a `ping`.
    """
    if not isinstance(chunk, dict):
        return "ping", ""
    if chunk.get("error"):
        return "error", ""
    choices = [each for each in _list(chunk.get("choices")) if isinstance(each, dict)]
    if not choices:
        return ("usage" if isinstance(chunk.get("usage"), dict) else "ping"), ""
    first = choices[0]
    delta = first.get("delta")
    text = _text(delta) if isinstance(delta, dict) else ""
    if word(first.get("finish_reason")):
        return "end", text
    return (_kind(delta), text) if isinstance(delta, dict) else ("ping", "")


def _text(delta: Mapping[str, Any]) -> str:
    return (word(delta.get("content")) or "") + (word(delta.get("refusal")) or "")


def _kind(delta: Mapping[str, Any]) -> EventKind:
    if _text(delta):
        return "text"
    if any(word(delta.get(field)) for field in THOUGHTS):
        return "thinking"
    if word(delta.get("reasoning_opaque")):
        return "signature"
    calls = [each.get("function") for each in _list(delta.get("tool_calls")) if isinstance(each, dict)]
    calls += [delta["function_call"]] if delta.get("function_call") else []
    if calls:
        has_arguments = any(word(each.get("arguments")) for each in calls if isinstance(each, dict))
        return "args" if has_arguments else "block_start"
    return "start" if "role" in delta and delta.get("content") in ("", None) else "ping"


def _list(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, list) else ()
