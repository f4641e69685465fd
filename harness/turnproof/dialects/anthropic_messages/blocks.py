"""Content blocks to neutral parts: the same reading for requests and for answers.

Nothing is lost: what no part names becomes `Opaque`, verbatim. A block that cannot be read at all (a number where
text must stand) raises `Unreadable`, which a request turns into a refusal and an answer into an `Opaque` part.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ... import messages as m

_UNKNOWN_IMAGE = "image/*"
_PDF = "application/pdf"


class Issuer(NamedTuple):
    """Who wrote a block: what only its service understands is tagged with the dialect and the model."""

    dialect: str
    model: str = ""

    def sealed(self, data: Mapping[str, Any]) -> m.ProviderData:
        """Such data, tagged."""
        return m.ProviderData(self.dialect, self.model, dict(data))


class Unreadable(Exception):
    """A value has another JSON type than the field allows. `where` is the path below the block."""

    def __init__(self, where: str, expected: str) -> None:
        super().__init__(f"{where}: Input should be a valid {expected}")
        self.where = where
        self.expected = expected


def part_of(block: Mapping[str, Any], issuer: Issuer, names: Mapping[str, str] | None = None) -> m.Part:
    """One block as a part. `names` gives the tool name of each call id seen so far, for results."""
    kind = block.get("type")
    if kind == "tool_result":
        return _result(block, issuer, names or {})
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return reader(block, issuer) if reader else opaque(block, issuer)


def read_block(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    """As `part_of`, for answers: what cannot be read is kept as it is."""
    try:
        return part_of(block, issuer)
    except Unreadable:
        return opaque(block, issuer)


def opaque(block: Mapping[str, Any], issuer: Issuer) -> m.Opaque:
    """A block that no part names, verbatim except its cache mark, which is kept as a mark."""
    data = {key: value for key, value in block.items() if key != "cache_control"}
    return m.Opaque(issuer.dialect, str(block.get("type", "")), data, cache=mark_of(block))


def mark_of(thing: Mapping[str, Any]) -> m.CacheMark | None:
    """The breakpoint on a block or tool, or None."""
    control = thing.get("cache_control")
    if not isinstance(control, dict):
        return None
    return m.CacheMark("1h" if control.get("ttl") == "1h" else "5m")


def result_text(content: m.JSON) -> str | None:
    """The text of a tool result's content, exactly as it stood; None where there is no text at all."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [item["text"] for item in content if _is_text(item)]
    return "".join(texts) if texts else None


def _is_text(item: m.JSON) -> bool:
    return isinstance(item, dict) and item.get("type") == "text" and isinstance(item.get("text"), str)


def _string(block: Mapping[str, Any], field: str) -> str:
    value = block.get(field, "")
    if not isinstance(value, str):
        raise Unreadable(field, "string")
    return value


def _text(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    text = _string(block, "text")
    citations = block.get("citations")
    data = issuer.sealed({"citations": citations}) if citations else None
    return m.Text(text, provider_data=data, cache=mark_of(block) if "cache_control" in block else None)


def _thinking(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    signature = _string(block, "signature")
    data = issuer.sealed({"signature": signature}) if signature else None
    return m.Thought(_string(block, "thinking"), provider_data=data)


def _redacted(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    return m.Thought("", provider_data=issuer.sealed({"redacted": _string(block, "data")}))


def _call(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    args = block.get("input", {})
    if not isinstance(args, dict):
        raise Unreadable("input", "dictionary")
    caller = block.get("caller")
    direct = caller is None or caller == {"type": "direct"}
    data = None if direct else issuer.sealed({"caller": caller})
    return m.FunctionCall(_string(block, "id"), _string(block, "name"), args, provider_data=data, cache=mark_of(block))


def _result(block: Mapping[str, Any], issuer: Issuer, names: Mapping[str, str]) -> m.Part:
    call_id = _string(block, "tool_use_id")
    content = block.get("content")
    if not isinstance(content, str | list | None):
        raise Unreadable("content", "list")
    attachments: tuple[m.InlineData | m.FileRef, ...] = ()
    data = None
    if isinstance(content, list):
        for n, item in enumerate(content):
            if not isinstance(item, dict):
                raise Unreadable(f"content.{n}", "dictionary")
            if not isinstance(item.get("cache_control"), dict | None):
                raise Unreadable(f"content.{n}.cache_control", "dictionary")
        items = [item for item in content if not _is_text(item)]
        nobody = Issuer(issuer.dialect)
        read = [part_of(item, nobody) for item in items]
        attachments = tuple(part for part in read if isinstance(part, m.InlineData | m.FileRef))
        others = [
            item for item, part in zip(items, read, strict=True) if not isinstance(part, m.InlineData | m.FileRef)
        ]
        data = nobody.sealed({"content": others}) if others else None
    return m.ToolResult(
        call_id,
        names.get(call_id, ""),
        result_text(content),
        block.get("is_error") is True,
        attachments,
        provider_data=data,
        cache=mark_of(block),
    )


def _image(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    return _media(block, issuer, _UNKNOWN_IMAGE, extras=())


def _document(block: Mapping[str, Any], issuer: Issuer) -> m.Part:
    return _media(block, issuer, _PDF, extras=("title", "context", "citations"))


def _media(block: Mapping[str, Any], issuer: Issuer, default_type: str, extras: tuple[str, ...]) -> m.Part:
    source = block.get("source")
    if not isinstance(source, dict):
        raise Unreadable("source", "dictionary")
    extra = {key: block[key] for key in extras if block.get(key)}
    data = issuer.sealed(extra) if extra else None
    mark = mark_of(block)
    match source:
        case {"type": "base64", "media_type": str(mime), "data": str(encoded)}:
            try:
                return m.InlineData(mime, b64decode(encoded, validate=True), provider_data=data, cache=mark)
            except (Base64Error, ValueError):
                return opaque(block, issuer)
        case {"type": "text", "media_type": str(mime), "data": str(text)}:
            return m.InlineData(mime, text.encode(), provider_data=data, cache=mark)
        case {"type": "url", "url": str(url)}:
            return m.FileRef(default_type, url, provider_data=data, cache=mark)
        case {"type": "file", "file_id": str(file_id)}:
            return m.FileRef(default_type, file_id, provider_data=data, cache=mark)
        case _:
            return opaque(block, issuer)


_READERS: dict[str, Callable[[Mapping[str, Any], Issuer], m.Part]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _call,
    "image": _image,
    "document": _document,
}
