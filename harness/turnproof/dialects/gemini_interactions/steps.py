"""Steps to neutral parts: the same reading for requests and for answers.

What no part names becomes `Opaque`, verbatim. A value of another type than the API allows raises `Unreadable`, which a
request turns into a refusal and an answer into an `Opaque` part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ...messages import JSON, FileRef, FunctionCall, InlineData, Opaque, Part, ProviderData, Text, Thought, ToolResult
from ..base64_text import decode_base64
from .addresses import Step
from .rules import NAME

_MEDIA: Mapping[str, str] = {
    "image": "image/*",
    "audio": "audio/*",
    "video": "video/*",
    "document": "application/octet-stream",
}
"""Types of content that hold a file, with what it is where nothing says so."""

CONTENTS = frozenset({"text", *_MEDIA})
"""Types of content: what stands in a step, and as `input` by itself."""

_encode = msgspec.json.Encoder().encode


class Unreadable(Exception):
    """A value has another JSON type than the field allows. `where` is the path below the step."""

    def __init__(self, where: str, expected: str) -> None:
        super().__init__(where)
        self.where = where
        self.expected = expected


def kind_of(step: Step) -> str:
    """The type of a step."""
    kind = step.get("type")
    return kind if isinstance(kind, str) else ""


def signature_of(step: Step) -> str | None:
    """The signature of a thought; None where it has none, or an empty one."""
    found = step.get("signature")
    return found if kind_of(step) == "thought" and isinstance(found, str) and found else None


def parts_of(step: Step, model: str, names: Mapping[str, str] | None = None) -> tuple[Part, ...]:
    """One step as parts. `names` gives the tool name of each call id seen so far, for results that have none."""
    match kind_of(step):
        case "user_input" | "model_output":
            return tuple(_contents(step.get("content"), "content"))
        case "thought":
            return (_thought(step, model),)
        case "function_call":
            return (_call(step),)
        case "function_result":
            return (_result(step, names or {}),)
        case kind:
            return (Opaque(NAME, kind, dict(step)),)


def read_step(step: Step, model: str) -> tuple[Part, ...]:
    """As `parts_of`, for answers: what cannot be read is kept as it is."""
    try:
        return parts_of(step, model)
    except Unreadable:
        return (Opaque(NAME, kind_of(step), dict(step)),)


def _string(thing: Mapping[str, Any], name: str, where: str) -> str:
    value = thing.get(name, "")
    if not isinstance(value, str):
        raise Unreadable(where, "a string")
    return value


def _contents(value: JSON, where: str) -> Iterator[Part]:
    if value is None:
        return
    if not isinstance(value, list):
        raise Unreadable(where, "a list of contents")
    for n, each in enumerate(value):
        if not isinstance(each, dict):
            raise Unreadable(f"{where}[{n}]", "a content")
        yield _content(each, f"{where}[{n}]")


def _content(content: Mapping[str, Any], where: str) -> Part:
    kind = content.get("type")
    if kind == "text":
        return Text(_string(content, "text", f"{where}.text"))
    if isinstance(kind, str) and kind in _MEDIA:
        mime = _string(content, "mime_type", f"{where}.mime_type") or _MEDIA[kind]
        uri, encoded = content.get("uri"), content.get("data")
        if isinstance(uri, str) and uri:
            return FileRef(mime, uri)
        data = decode_base64(encoded) if isinstance(encoded, str) else None
        if data is not None:
            return InlineData(mime, data)
    return Opaque(NAME, str(kind or ""), dict(content))


def _thought(step: Step, model: str) -> Part:
    texts = [part.text for part in _contents(step.get("summary"), "summary") if isinstance(part, Text)]
    if not isinstance(step.get("signature"), str | None):
        raise Unreadable("signature", "a string")
    text, signature = "".join(texts), signature_of(step)
    # Without a summary nobody but the model can read what the signature seals.
    name = "signature" if text else "encrypted"
    return Thought(text, provider_data=ProviderData(NAME, model, {name: signature}) if signature else None)


def _call(step: Step) -> Part:
    args = step.get("arguments", {})
    if not isinstance(args, dict):
        raise Unreadable("arguments", "an object")
    return FunctionCall(_string(step, "id", "id"), _string(step, "name", "name"), args)


def _result(step: Step, names: Mapping[str, str]) -> Part:
    call_id = _string(step, "call_id", "call_id")
    name = _string(step, "name", "name") or names.get(call_id, "")
    failed = step.get("is_error") is True
    result = step.get("result")
    if isinstance(result, str):
        return ToolResult(call_id, name, result, is_error=failed)
    if isinstance(result, dict):
        return ToolResult(call_id, name, _encode(result).decode(), is_error=failed)
    read = tuple(_contents(result, "result"))
    texts = [part.text for part in read if isinstance(part, Text)]
    attached = tuple(part for part in read if isinstance(part, InlineData | FileRef))
    others = [dict(part.data) for part in read if isinstance(part, Opaque)]
    data = ProviderData(NAME, "", {"result": others}) if others else None
    return ToolResult(
        call_id, name, "".join(texts) if texts else None, is_error=failed, attachments=attached, provider_data=data
    )
