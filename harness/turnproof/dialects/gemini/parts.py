"""Wire parts to neutral parts: the same reading for requests and for answers.

Parts come in the spelling that servers write (camelCase; a request is brought into it by `spelling.py` first). Nothing
is lost and nothing raises: what no neutral part names, and what has another JSON type than its field allows, becomes
`Opaque`. A signature is kept as the standard base64 of its bytes, in `provider_data` under `signature`, so that the
two alphabets in use compare equal; fields that stand beside a part's data are kept there under their own names.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from ... import messages as m
from ..base64_text import decode_base64
from .rules import NAME

WirePart = Mapping[str, Any]

_SIGNATURE = "thoughtSignature"


def part_of(wire: WirePart, model: str) -> m.Part:
    """One wire part as a neutral part. A call or result without an id has the id `""`: `ids.py` gives it one.

    The whole `response` of a function response is the result, as it stood; it is an error if it has an `error` that
    is not null. `model` is who issued the part, or is asked to go on from it.
    """
    for field, reader in _READERS.items():
        if field in wire:
            return reader(wire, _provider_data(wire, field, model)) or _opaque(wire, field, model)
    if wire.get("thought") is True:
        return m.Thought(provider_data=_provider_data(wire, "", model))
    return _opaque(wire, next((key for key in wire if key != _SIGNATURE), ""), model)


def signature_of(part: m.Part) -> str | None:
    """The signature that a part carries, as standard base64; None without one."""
    data = part.provider_data
    found = data.data.get("signature") if data is not None and data.dialect == NAME else None
    return found if isinstance(found, str) else None


def standard_base64(text: str) -> str:
    """Base64 in the alphabet that servers write; what is no base64 stays as it is."""
    data = decode_base64(text)
    return text if data is None else b64encode(data).decode()


def _provider_data(wire: WirePart, field: str, model: str) -> m.ProviderData | None:
    if field == "text" and len(wire) == 1:
        return None
    other_fields = {key: value for key, value in wire.items() if key not in (field, "thought", _SIGNATURE)}
    value = wire.get(field)
    if isinstance(value, dict):
        other_fields |= {key: inner for key, inner in value.items() if key not in _NAMED.get(field, value)}
    return _issued(wire, other_fields, model)


def _issued(wire: WirePart, other_fields: dict[str, Any], model: str) -> m.ProviderData | None:
    signature = wire.get(_SIGNATURE)
    if isinstance(signature, str) and signature:
        other_fields["signature"] = standard_base64(signature)
    return m.ProviderData(NAME, model, other_fields) if other_fields else None


def _opaque(wire: WirePart, field: str, model: str) -> m.Opaque:
    data = {key: value for key, value in wire.items() if key != _SIGNATURE}
    return m.Opaque(NAME, field, data, provider_data=_issued(wire, {}, model))


def _text(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    text = wire["text"]
    if not isinstance(text, str):
        return None
    return m.Thought(text, provider_data=data) if wire.get("thought") is True else m.Text(text, provider_data=data)


def _call(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    call = _object(wire, "functionCall")
    name, args = call.get("name"), _value(call, "args", {})
    if not isinstance(name, str) or not isinstance(args, dict):
        return None
    return m.FunctionCall(_identity(call), name, args, provider_data=data)


def _result(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    result = _object(wire, "functionResponse")
    name, response, inside = result.get("name"), _value(result, "response", {}), _value(result, "parts", [])
    if not isinstance(name, str) or not isinstance(response, dict) or not isinstance(inside, list):
        return None
    attachments = tuple(part for part in map(_attachment, inside) if part is not None)
    failed = response.get("error") is not None
    return m.ToolResult(_identity(result), name, response, failed, attachments, provider_data=data)


def _attachment(wire: object) -> m.InlineData | m.FileRef | None:
    if not isinstance(wire, dict):
        return None
    found = _inline(wire, None) if "inlineData" in wire else _file(wire, None)
    return found if isinstance(found, m.InlineData | m.FileRef) else None


def _inline(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    blob = _object(wire, "inlineData")
    encoded = blob.get("data")
    content = decode_base64(encoded) if isinstance(encoded, str) else None
    return None if content is None else m.InlineData(str(blob.get("mimeType", "")), content, provider_data=data)


def _file(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    file = _object(wire, "fileData")
    uri = file.get("fileUri")
    return m.FileRef(str(file.get("mimeType", "")), uri, provider_data=data) if isinstance(uri, str) else None


def _code(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    code_part = _object(wire, "executableCode")
    code = code_part.get("code")
    return (
        m.ExecutableCode(str(code_part.get("language", "")), code, provider_data=data)
        if isinstance(code, str)
        else None
    )


def _code_result(wire: WirePart, data: m.ProviderData | None) -> m.Part | None:
    gave = _object(wire, "codeExecutionResult")
    outcome, output = gave.get("outcome"), gave.get("output", "")
    if not isinstance(outcome, str) or not isinstance(output, str):
        return None
    return m.CodeExecutionResult(outcome, output, provider_data=data)


def _object(wire: WirePart, field: str) -> Mapping[str, Any]:
    value = wire.get(field)
    return value if isinstance(value, dict) else {}


def _value(fields: Mapping[str, Any], name: str, default: m.JSON) -> m.JSON:
    """A field's value; a null is as good as none."""
    value = fields.get(name)
    return default if value is None else value


def _identity(fields: Mapping[str, Any]) -> str:
    found = fields.get("id")
    return found if isinstance(found, str) else ""


_NAMED: Mapping[str, frozenset[str]] = {
    "functionCall": frozenset({"id", "name", "args"}),
    "functionResponse": frozenset({"id", "name", "response", "parts"}),
    "inlineData": frozenset({"mimeType", "data"}),
    "fileData": frozenset({"mimeType", "fileUri"}),
    "executableCode": frozenset({"language", "code"}),
    "codeExecutionResult": frozenset({"outcome", "output"}),
}
"""What the neutral part says itself; other fields of the data go to `provider_data`."""

_READERS: dict[str, Callable[[WirePart, m.ProviderData | None], m.Part | None]] = {
    "text": _text,
    "functionCall": _call,
    "functionResponse": _result,
    "inlineData": _inline,
    "fileData": _file,
    "executableCode": _code,
    "codeExecutionResult": _code_result,
}
