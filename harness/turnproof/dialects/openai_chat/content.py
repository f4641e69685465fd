"""Content, calls and thinking as they stand in wire messages, as neutral parts: the same reading for both directions.

Nothing is lost: what no part names becomes `Opaque`, verbatim. Arguments are a string that should be JSON; one that is
none stays beside the call, whose `args` are then empty.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Mapping
from typing import Any

from ... import messages as m
from ...errors import PayloadError
from ..lenient_reading import json_of, word
from .rules import NAME
from .surface_table import THOUGHTS

_UNKNOWN_IMAGE = "image/*"
_UNKNOWN_FILE = "application/octet-stream"


def parts_of(content: m.JSON, model: str) -> Iterator[m.Part]:
    """The parts of a message's `content`: a string, or a list of blocks; none where it is null or absent."""
    if isinstance(content, str):
        if content:
            yield m.Text(content)
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                yield _part(block, model)


def text_of(content: m.JSON) -> str:
    """The text of a content, exactly as it stood, joined where it stood in blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else ()
    return "".join(block["text"] for block in blocks if _is_text(block))


def thoughts_of(message: Mapping[str, Any], model: str) -> Iterator[m.Thought]:
    """The thinking beside a content, once, whatever fields it stands in; an encrypted form goes with it."""
    thinking = next((text for field in THOUGHTS if (text := word(message.get(field)))), "")
    sealed = word(message.get("reasoning_opaque"))
    if thinking or sealed:
        yield m.Thought(thinking, provider_data=m.ProviderData(NAME, model, {"encrypted": sealed}) if sealed else None)


def call_of(call: Mapping[str, Any], model: str) -> m.FunctionCall | m.Opaque:
    """One entry of `tool_calls`; one that is no function's is kept as it is."""
    function = call.get("function")
    if not isinstance(function, dict):
        return m.Opaque(NAME, str(call.get("type", "")), dict(call))
    return function_call(word(call.get("id")) or "", function, model)


def function_call(call_id: str, function: Mapping[str, Any], model: str) -> m.FunctionCall:
    """A name with its arguments."""
    name, written = word(function.get("name")) or "", function.get("arguments")
    args = arguments_of(written)
    if args is None:
        return m.FunctionCall(call_id, name, provider_data=m.ProviderData(NAME, model, {"arguments": written}))
    return m.FunctionCall(call_id, name, args)


def arguments_of(written: m.JSON) -> dict[str, Any] | None:
    """Arguments as a frozen object; None for what is none. Nothing at all counts as no arguments."""
    if written is None or (isinstance(written, str) and not written.strip()):
        return {}
    args = json_of(written) if isinstance(written, str) else written
    try:
        return m.freeze(args) if isinstance(args, dict) else None
    except PayloadError:
        return None  # nested deeper than a session can hold, or a number that is none


def _is_text(block: m.JSON) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _part(block: Mapping[str, Any], model: str) -> m.Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return m.Text(text, cache=m.CacheMark() if block.get("prompt_cache_breakpoint") else None)
        case {"type": "refusal", "refusal": str(text)}:
            return refusal(text, model)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return _addressed(url, _UNKNOWN_IMAGE) or _opaque(block)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(form)}}:
            return _decoded(f"audio/{form}", data) or _opaque(block)
        case {"type": "file", "file": {"file_data": str(data)}}:
            return _addressed(data, _UNKNOWN_FILE) or _opaque(block)
        case {"type": "file", "file": {"file_id": str(file_id)}}:
            return m.FileRef(_UNKNOWN_FILE, file_id)
    return _opaque(block)


def refusal(text: str, model: str) -> m.Text:
    """What the model says instead of an answer; on the wire it has a field of its own."""
    return m.Text(text, provider_data=m.ProviderData(NAME, model, {"refusal": True}))


def is_refusal(part: m.Part) -> bool:
    """Whether a text is a refusal."""
    data = part.provider_data
    return isinstance(part, m.Text) and data is not None and data.dialect == NAME and data.data.get("refusal") is True


def _opaque(block: Mapping[str, Any]) -> m.Opaque:
    return m.Opaque(NAME, str(block.get("type", "")), dict(block))


def _addressed(url: str, kind: str) -> m.InlineData | m.FileRef | None:
    """What an address points at: the bytes of a `data:` URL, or a file elsewhere."""
    if not url.startswith("data:"):
        return m.FileRef(kind, url)
    head, _, data = url[5:].partition(",")
    mime, _, encoding = head.partition(";")
    return _decoded(mime, data) if encoding == "base64" else None


def _decoded(mime: str, data: str) -> m.InlineData | None:
    try:
        return m.InlineData(mime, b64decode(data, validate=True))
    except (Base64Error, ValueError):
        return None
