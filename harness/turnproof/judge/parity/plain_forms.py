"""Messages and requests as plain values, to be compared place by place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from ...dialects.atoms import Atom, atoms
from ...dialects.base import Call
from ...messages import JSON, InlineData, Message, Part, Text, Thought, ToolResult, thaw, to_builtins

_WRAPPERS = {"output", "result", "error"}
_CONTENT_KINDS = ("text", "call", "result", "inline", "file")


def part_form(part: Part, *, neutral: bool = False) -> JSON:
    """A part without its cache mark; bytes by digest. With `neutral`, without what only its own API understands."""
    if isinstance(part, InlineData):
        return {"part": "inline", "mime_type": part.mime_type, "data": _digest(part.data)}
    bare = part
    if part.cache is not None or (neutral and part.provider_data is not None):
        bare = replace(part, cache=None, **({"provider_data": None} if neutral else {}))
    if isinstance(bare, ToolResult) and bare.attachments:
        attached = [part_form(one, neutral=neutral) for one in bare.attachments]
        return {**thaw(to_builtins(replace(bare, attachments=()))), "attachments": attached}
    return thaw(to_builtins(bare))


def parts_form(parts: Iterable[Part], *, neutral: bool = False) -> list[JSON]:
    """Parts in order."""
    return [part_form(part, neutral=neutral) for part in parts]


def history_form(messages: Iterable[Message], *, neutral: bool = False) -> list[JSON]:
    """A conversation: roles and parts. The ids of messages are the session's own and say nothing."""
    return [{"role": message.role, "parts": parts_form(message.parts, neutral=neutral)} for message in messages]


def join_neighbours(messages: Sequence[JSON]) -> list[JSON]:
    """A conversation in `history_form` with neighbours of one role, and neighbouring texts and thoughts, as one.

    Blank texts are left out: what an adapter keeps of them is its own affair.
    """
    row: list[tuple[str, list[JSON]]] = []
    for message in messages:
        if row and row[-1][0] == message["role"]:
            row[-1][1].extend(message["parts"])
        else:
            row.append((message["role"], list(message["parts"])))
    return [{"role": role, "parts": joined} for role, parts in row if (joined := join_parts(parts))]


def join_parts(parts: Iterable[JSON]) -> list[JSON]:
    """Parts in `part_form`, neighbouring texts and thoughts as one of each, blank texts left out."""
    out: list[JSON] = []
    for part in parts:
        kind = part["part"]
        if kind == "text" and not part["text"].strip():
            continue
        if kind in ("text", "thought") and out and out[-1]["part"] == kind and not _sealed(out[-1]):
            out[-1] = {**part, "text": out[-1].get("text", "") + part.get("text", "")}
        else:
            out.append(part)
    return out


def spoken_content(messages: Sequence[JSON]) -> list[JSON]:
    """What a conversation in `history_form` says: texts, calls and results by role, without ids, seals and thoughts."""
    bare = [
        {**message, "parts": [_bare(part) for part in message["parts"] if part["part"] in _CONTENT_KINDS]}
        for message in messages
    ]
    return join_neighbours(bare)


def request_form(call: Call, names: Mapping[str, str]) -> JSON:
    """A request in a form that all dialects have in common; tools and calls under the session's names.

    Thinking is left out: it goes back only to the API that signed it. So are settings, whose names differ.
    """
    return {
        "system": "\n".join(part.text for part in call.system if isinstance(part, Text) and part.text.strip()),
        "tools": {
            names.get(tool.name, tool.name): {"description": tool.description, "parameters": thaw(tool.parameters)}
            for tool in call.tools
        },
        "conversation": _row(atoms(call.messages, root="$"), names),
    }


def _row(row: Iterable[Atom], names: Mapping[str, str]) -> list[JSON]:
    out: list[JSON] = []
    for atom in row:
        if isinstance(atom.part, Thought) or (atom.kind == "text" and not atom.text.strip()):
            continue
        form = {"side": atom.side, **part_form(atom.part, neutral=True)}
        if "name" in form:
            form["name"] = names.get(form["name"], form["name"])
        if atom.kind == "result":
            del form["name"]  # not every API says it again
            form["result"] = _value(form.get("result"))
        if atom.kind == "text" and out and out[-1]["part"] == "text" and out[-1]["side"] == atom.side:
            out[-1] = {**form, "text": out[-1]["text"] + form["text"]}
        else:
            out.append(form)
    return out


def _value(result: JSON) -> JSON:
    """A result as the tool gave it. Some APIs take only text, and get JSON in it; some take only objects."""
    try:
        value = msgspec.json.decode(result) if isinstance(result, str) else result
    except msgspec.DecodeError:
        return result
    if isinstance(value, dict) and len(value) == 1 and value.keys() <= _WRAPPERS:
        return _value(*value.values())
    return value


def _bare(part: JSON) -> JSON:
    return {key: value for key, value in part.items() if key not in ("id", "call_id", "provider_data")}


def _sealed(part: JSON) -> bool:
    return bool(part.get("provider_data"))


def _digest(data: bytes) -> str:
    return f"{len(data)} bytes, {hashlib.blake2b(data, digest_size=8).hexdigest()}"
